import { plain } from '../order/quote.ts';
import type { Finish, Message, ModelAnswer, ToolRequest, Usage } from './messages.ts';
import type { AgentPolicy } from './policy.ts';
import { readArguments } from './tools.ts';
import type { ToolUse } from './uses.ts';
import type { AgentVersion } from './versions.ts';

/** One call of a tool, understood or not. */
export type ReadCall = { callId: string } & (
  | { ok: true; use: ToolUse }
  /** What is wrong, for the model. */
  | { ok: false; error: string }
);

/**
 * An answer as the run goes by it: small, bounded and checked. It is written down as it is, so a later
 * version's rules never bear on an answer that an earlier one has read.
 */
export interface ReadAnswer {
  finish: Finish;
  /** For people: the beginning of what the model said. */
  text: string;
  calls: ReadCall[];
  /** Calls beyond the limit, of which nothing else is known. */
  ignoredCalls: number;
  usage?: Usage;
}

type Limits = Pick<AgentPolicy, 'maxCallsPerTurn' | 'maxArgumentChars'>;

/** Longer talk is of no use to anybody, and must fit into a prompt again. */
const MAX_TEXT_CHARS = 20_000;
const SHOWN_CHARS = 300;

/**
 * Reads an answer at the edge: what the run goes by, and the message as it is put into the transcript
 * and sent back, whose ids, names and arguments a strict endpoint takes. Never throws.
 */
export function readAnswer(
  answer: ModelAnswer,
  { tools }: Pick<AgentVersion, 'tools'>,
  { maxCallsPerTurn, maxArgumentChars }: Limits,
): { read: ReadAnswer; message: Message & { role: 'assistant' } } {
  const { finish, usage } = answer;
  // The last call of a cut answer may say something else than was meant; which one is last is not sure.
  const wanted = finish === 'length' ? [] : answer.calls;
  const kept = withIds(wanted.slice(0, maxCallsPerTurn));
  const read: ReadAnswer = {
    finish,
    text: plain(answer.text, SHOWN_CHARS),
    calls: kept.map((call) => readCall(call, tools, maxArgumentChars)),
    ignoredCalls: wanted.length - kept.length,
    ...(usage && { usage }),
  };
  const calls = kept.map((call) => ({
    callId: call.callId,
    name: call.name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unnamed',
    arguments: sendable(call.arguments, maxArgumentChars),
  }));
  const content = answer.text.slice(0, MAX_TEXT_CHARS).toWellFormed();
  return { read, message: { role: 'assistant', content, calls } };
}

function readCall(
  { callId, name, arguments: text }: ToolRequest,
  tools: AgentVersion['tools'],
  maxChars: number,
): ReadCall {
  const tool = tools.find((each) => each.name === name);
  if (!tool) {
    const names = tools.map((each) => each.name).join(', ');
    return { callId, ok: false, error: `there is no such tool; there are ${names}` };
  }
  if (text.length > maxChars) {
    return { callId, ok: false, error: `the arguments are longer than ${maxChars} characters` };
  }
  return { callId, ...readArguments(tool.does, text) };
}

/** An id of each call's own, since results and effect keys go by it: the model's where it is one. */
function withIds(calls: readonly ToolRequest[]): ToolRequest[] {
  const taken = new Set<string>();
  return calls.map((call, index) => {
    const usable = /^[\w-]{1,64}$/.test(call.callId) && !taken.has(call.callId);
    let callId = usable ? call.callId : `call-${index}`;
    while (taken.has(callId)) callId += 'x';
    taken.add(callId);
    return { ...call, callId };
  });
}

/** Strict endpoints refuse a history whose arguments are no JSON object. */
function sendable(text: string, maxChars: number): string {
  if (text.length <= maxChars) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text;
    } catch {
      // Falls through: sent back in quotes.
    }
  }
  return JSON.stringify({ unreadable: text.slice(0, 200).toWellFormed() });
}
