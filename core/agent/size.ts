import type { Message } from './messages.ts';

/**
 * Sizes are in bytes and stand for tokens: a token is at least one byte, so a size is never less than
 * what a model counts, whichever tokenizer it has.
 */
const FRAME = 16;

/** What a message adds to a prompt at most, its role and marks included. */
export function sizeOf(message: Message): number {
  const calls = message.role === 'assistant' ? message.calls : [];
  return calls.reduce(
    (sum, call) => sum + FRAME + sizeOfText(call.callId + call.name + call.arguments),
    FRAME + sizeOfText(message.content) + (message.role === 'tool' ? message.callId.length : 0),
  );
}

export function sizeOfText(text: string): number {
  return new TextEncoder().encode(text).length;
}
