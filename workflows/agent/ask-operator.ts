import type { AgentStep } from '../../core/steps.ts';
import type { StepProblem } from '../failures.ts';
import { untilOperated } from '../operator.ts';
import { Stopped } from '../run.ts';
import type { AgentRun } from './run.ts';

const NO_FIX = 'a request that was wrong is asked anew, under another reference';

/**
 * Waits, stuck, until an operator says what to do. Returns when the step is to be tried again; throws
 * `Stopped` when the run is given up.
 */
export async function askOperator(
  run: AgentRun,
  step: AgentStep,
  problem: StepProblem,
): Promise<void> {
  const { action, why } = await untilOperated(run, { step, problem, fix: { no: NO_FIX } });
  if (action === 'replay') return;
  throw new Stopped({ kind: 'end', outcome: 'discarded', reason: why });
}
