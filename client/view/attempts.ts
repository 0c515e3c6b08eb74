import type { DeadLetter } from '../../core/contract.ts';
import { row, text } from './text.ts';
import { localTime } from './time.ts';

type Attempt = DeadLetter['attempts'][number];

/**
 * The attempts in order, equal failures in a row as one line: what is left to see is what changed
 * from one to the next.
 */
export function attemptLines(attempts: readonly Attempt[]): string[] {
  const groups: { first: number; last: number; of: Attempt; lastAt: string }[] = [];
  attempts.forEach((attempt, index) => {
    const group = groups.at(-1);
    if (group && sameFailure(group.of, attempt)) {
      group.last = index + 1;
      group.lastAt = attempt.at;
    } else groups.push({ first: index + 1, last: index + 1, of: attempt, lastAt: attempt.at });
  });
  return groups.map(({ first, last, of, lastAt }) => {
    const numbers = first === last ? `${first}` : `${first}-${last}`;
    const times = first === last ? localTime(of.at) : `${localTime(of.at)} to ${localTime(lastAt)}`;
    return row('attempt', text`${numbers}  ${times}  ${of.failureClass}: ${of.message}`);
  });
}

function sameFailure(one: Attempt, other: Attempt): boolean {
  return one.failureClass === other.failureClass && one.message === other.message;
}
