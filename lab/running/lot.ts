import { createHash } from 'node:crypto';

/** A number from 0 up to and without 1, drawn for `what`: the same for the same seed, whatever is drawn besides. */
export function lot(seed: number, what: string): number {
  return createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE() / 2 ** 32;
}
