import type { Message } from '../../core/agent/messages.ts';
import { text } from './text.ts';

/** What was said, in the words in which it was said. */
export interface Transcript {
  turns: { turn: number; before: Message[]; answer: Message & { role: 'assistant' } }[];
  /** What the model has not been told yet. */
  since: Message[];
}

const SHOWN_CHARS = 200;

/** A transcript for people: a line for each thing that was said; what is long is cut, unless `full`. */
export function transcriptLines({ turns, since }: Transcript, full: boolean): string[] {
  const names = new Map(
    turns.flatMap(({ answer }) => answer.calls.map(({ callId, name }) => [callId, name] as const)),
  );
  const cut = (words: string) => (full ? words : shortened(words));
  const lineOf = (message: Message): string => {
    const who = message.role === 'tool' ? (names.get(message.callId) ?? 'tool') : 'program';
    return text`  ${who}: ${cut(message.content)}`;
  };
  const lines = turns.flatMap(({ turn, before, answer }) => [
    `turn ${turn}`,
    ...before.map(lineOf),
    ...(answer.content === '' ? [] : [text`  model: ${cut(answer.content)}`]),
    ...answer.calls.map((call) => text`  model calls ${call.name} ${cut(call.arguments)}`),
  ]);
  return since.length === 0 ? lines : [...lines, 'to be told', ...since.map(lineOf)];
}

function shortened(words: string): string {
  const more = words.length - SHOWN_CHARS;
  if (more <= 0) return words;
  return `${words.slice(0, SHOWN_CHARS).toWellFormed()} … (${more} characters more: --full)`;
}
