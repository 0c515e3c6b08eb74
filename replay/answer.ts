import type { Failure } from './gate/gate.ts';
import { failureInWords } from './gate/gate.ts';

/** What a command came to: whether all is well, and that for people and for machines. */
export interface Answer {
  ok: boolean;
  text: string;
  json: object;
}

/** The failures, one sentence each, then what to know about them. */
export function failureLines(failures: readonly Failure[]): string[] {
  return failures.map((failure) => `✗ ${failureInWords(failure)}`);
}
