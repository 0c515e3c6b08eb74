// What goes to a language model and comes back, in our own words: an OpenAI-compatible endpoint is one
// way to carry it. Nothing here has been checked; `readAnswer` does that.

/** A call of a tool as the model wrote it: id, name and arguments may be anything. */
export interface ToolRequest {
  callId: string;
  name: string;
  /** JSON, if the model got it right. */
  arguments: string;
}

export type Message =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; calls: ToolRequest[] }
  | { role: 'tool'; callId: string; content: string };

/** A tool as the model is told about it. */
export interface ToolDescription {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  parameters: Record<string, unknown>;
}

export interface ModelQuestion {
  model: string;
  messages: Message[];
  tools: ToolDescription[];
  /** The answer is cut here; what it may cost at most follows from it. */
  maxOutputTokens: number;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** Why the model stopped. `length`: cut at `maxOutputTokens`, so its last word is not to be trusted. */
export type Finish = 'stop' | 'tool-calls' | 'length' | 'filtered';

export interface ModelAnswer {
  text: string;
  calls: ToolRequest[];
  finish: Finish;
  /** Absent where a server does not count: then the worst case is charged. */
  usage?: Usage;
}
