import { canonicalJson } from './canonical.ts';
import type { Order } from './schema.ts';

/** The history says what a fix changed; the whole orders stand in the run's input and in the fix itself. */
const MAX_LENGTH = 1_000;

/** The fields of an order, and the lines of it, that a fix changed: as they were and as they are, as JSON. */
export function differences(before: Order, after: Order): { before: string; after: string } {
  const was = parts(before);
  const is = parts(after);
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter(
    (part) => was.get(part) !== is.get(part),
  );
  return { before: shown(was, changed), after: shown(is, changed) };
}

/** One part for each top-level field and one for each line, so that one new price does not show 240 lines. */
function parts({ lines, ...fields }: Order): Map<string, string> {
  return new Map([
    ...Object.entries(fields).map(([name, value]) => [name, canonicalJson(value)] as const),
    ...lines.map((line) => [`line ${line.lineId}`, canonicalJson(line)] as const),
  ]);
}

function shown(from: Map<string, string>, changed: string[]): string {
  const text = changed.map((part) => `${part}: ${from.get(part) ?? 'none'}`).join('; ');
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
}
