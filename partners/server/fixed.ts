import { createHash } from 'node:crypto';

/** A number made from a text, the same on every machine and in every run: 0 (included) to 1 (not). */
export function fixedFraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
