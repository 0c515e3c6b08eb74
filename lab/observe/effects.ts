import type { EffectKind } from '../../partners/contract.ts';
import type { Outcome } from '../scenario.ts';

export type Counts = Record<EffectKind, number>;

/** What one plain order does, each once. */
export const ONCE = {
  enquiry: 1,
  screening: 1,
  reservation: 1,
  charge: 1,
  order: 1,
  mail: 1,
} as const;

/** The same before there was a screening. */
export const UNSCREENED = { ...ONCE, screening: 0 } as const;

const DONE: Record<EffectKind, string> = {
  enquiry: 'enquired',
  screening: 'screened',
  reservation: 'reserved',
  release: 'released',
  charge: 'charged',
  refund: 'refunded',
  order: 'placed',
  cancel: 'cancelled',
  mail: 'mailed',
  completion: 'asked the model',
};

/**
 * The verdict on counted effects: held when they are what they should be, else broke, in words
 * ("placed twice", "never mailed"). `expected` leaves out what must not have happened.
 */
export function judgeEffects(
  counts: Counts,
  expected: Partial<Counts>,
  measured: Record<string, number | string> = {},
): Outcome {
  const kinds = Object.keys(DONE).filter((kind): kind is EffectKind => kind in counts);
  const wrong = kinds.flatMap((kind) => {
    const right = expected[kind] ?? 0;
    return counts[kind] === right ? [] : [inWords(kind, counts[kind], right)];
  });
  if (wrong.length > 0) return { verdict: 'broke', how: wrong.join(', '), counted: {}, measured };
  const happened = kinds.filter((kind) => counts[kind] > 0);
  const counted = happened.every((kind) => counts[kind] === 1)
    ? { effects: 'each once' }
    : Object.fromEntries(happened.map((kind) => [DONE[kind], counts[kind]]));
  return { verdict: 'held', counted, measured };
}

function inWords(kind: EffectKind, count: number, right: number): string {
  if (count === 0) return `never ${DONE[kind]}`;
  if (right <= 1 && count === 2) return `${DONE[kind]} twice`;
  return `${DONE[kind]} ${count} times${right > 1 ? ` instead of ${right}` : ''}`;
}
