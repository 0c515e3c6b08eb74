import type { SubmitResult } from '../../core/contract.ts';
import type { AgentOutcome } from '../../core/steps.ts';

/** What became of a start, for people. */
export function startedInWords(
  result: Exclude<SubmitResult<AgentOutcome>, { kind: 'conflict' }>,
): string {
  switch (result.kind) {
    case 'started':
      return 'started';
    case 'already-running':
      return 'already running';
    case 'already-finished':
      return `already finished${result.outcome === undefined ? '' : `, ${result.outcome}`}`;
    default:
      return result satisfies never;
  }
}
