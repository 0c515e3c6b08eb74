import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
} from '@temporalio/workflow';
import { orderIdOf } from '../core/identity.ts';
import type { RunInput } from '../core/order/run-input.ts';
import { compensate } from './compensation.ts';
import { initialPosition } from './initial-position.ts';
import { listen } from './messages.ts';
import { end, now } from './position.ts';
import { Stopped } from './run.ts';
import type { Run, RunResult, Stop } from './run.ts';

/** Takes a run's steps, in the order of its version. */
export type TakeSteps = (run: Run) => Promise<void>;

/** A run before its first step. Throws an ApplicationFailure for an input that is no order. */
export function begin(input: RunInput, version: string): Run {
  // Failing the run beats a workflow task that is retried for ever.
  if (!isRunInput(input)) {
    throw ApplicationFailure.nonRetryable('the input is no order with a policy', 'bad-input');
  }
  return {
    id: orderIdOf(input.order),
    input,
    position: initialPosition(input, now(), version),
    prices: new Map(),
    gates: [],
    undos: [],
    cancellable: true,
    failures: [],
  };
}

/** Takes the run to its end: its steps, what undoes them, and every message that still comes. */
export async function carryOut(run: Run, takeSteps: TakeSteps): Promise<RunResult> {
  const steps = new CancellationScope();
  listen(run, steps);
  const result = await untilEnded(run, () => steps.run(() => takeSteps(run)));
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  if (run.cancel?.native && result.outcome === 'cancelled') {
    throw new CancelledFailure(run.cancel.reason);
  }
  return result;
}

/** A fixed order takes its steps anew. */
async function untilEnded(run: Run, takeSteps: () => Promise<void>): Promise<RunResult> {
  for (;;) {
    const stop = await untilStopped(run, takeSteps);
    if (stop.kind === 'end') {
      run.cancellable = false;
      if (stop.outcome !== 'completed') await compensate(run);
      return finish(run, stop);
    }
    const undone = await compensate(run);
    if (!undone) {
      // The new revision would do again what the old one did and nobody took back.
      return finish(run, { outcome: 'discarded', reason: 'the old revision could not be undone' });
    }
    beginAnew(run, stop.input);
  }
}

async function untilStopped(run: Run, takeSteps: () => Promise<void>): Promise<Stop> {
  try {
    await takeSteps();
    return { kind: 'end', outcome: 'completed' };
  } catch (error) {
    if (error instanceof Stopped) return error.stop;
    if (!isCancellation(error) || !run.cancel) throw error;
    return { kind: 'end', outcome: 'cancelled', reason: run.cancel.reason };
  }
}

/** The shape only, so that a rule that a later version changes never bears on a run that is replayed. */
function isRunInput(input: Partial<RunInput> | undefined): input is RunInput {
  const { order, policy } = input ?? {};
  if (typeof order?.buyer?.id !== 'string' || typeof order.orderRef !== 'string') return false;
  if (!Array.isArray(order.lines) || typeof policy !== 'object') return false;
  const numbers = [policy.fanOut, policy.maxAttempts, policy.attemptTimeoutMs, policy.heartbeatMs];
  return numbers.every((number) => typeof number === 'number' && number > 0);
}

function beginAnew(run: Run, input: RunInput): void {
  run.input = input;
  run.position = { ...run.position, revision: input.revision };
  run.prices = new Map();
  delete run.totals;
}

function finish(run: Run, { outcome, reason }: Omit<Stop & { kind: 'end' }, 'kind'>): RunResult {
  end(run, outcome, reason);
  return {
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(run.totals === undefined ? {} : { totals: run.totals }),
    position: run.position,
  };
}
