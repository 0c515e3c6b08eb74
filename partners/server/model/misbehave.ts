import type { Knowledge } from './knowledge.ts';
import { call, type Reply } from './script.ts';

const LONG = 'I think about it at length. '.repeat(400);

/** What a model gets wrong, by the word that asks for it. */
const MANNERS: Readonly<Record<string, (searchTool: string) => Reply>> = {
  malformed: (name) => ({ text: '', calls: [{ name, arguments: '{"query": "ch' }] }),
  'wrong-arguments': () => ({ text: '', calls: [call('get_quote', { sku: 7, colour: 'red' })] }),
  'unknown-tool': () => ({ text: '', calls: [call('buy_it_now', { price: '1' })] }),
  cut: (name) => ({ text: LONG, calls: [call(name, { query: 'chairs' })], cut: true }),
  endless: (name) => ({ text: '', calls: [call(name, { query: 'the same again' })] }),
  silent: () => ({ text: '', calls: [] }),
  chatty: () => ({ text: 'Certainly! I am happy to help.', calls: [] }),
  many: (name) => ({
    text: '',
    calls: Array.from({ length: 50 }, (_, n) => call(name, { query: `thing ${n}` })),
  }),
  'order-at-once': () => ({
    text: '',
    calls: [call('submit_order', { supplierId: 'sup_1', lines: [{ sku: 'X', quantity: '5' }] })],
  }),
};

/**
 * A wrong answer, when the request asks for one: `[model: malformed]` for ever, `[model: malformed 2]`
 * for the first two. Undefined when the script may go on.
 */
export function misbehave({ text, turns, searchTool }: Knowledge): Reply | undefined {
  const [, manner = '', times] = /\[model: ([a-z-]+)(?: (\d{1,4}))?\]/.exec(text) ?? [];
  if (times !== undefined && turns >= Number(times)) return undefined;
  return Object.hasOwn(MANNERS, manner) ? MANNERS[manner]?.(searchTool) : undefined;
}
