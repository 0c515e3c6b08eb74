import { isCancellation, proxyActivities, sleep } from '@temporalio/workflow';
import type { Thought } from '../../activities/think.ts';
import type { AgentActivities } from '../../activities/index.ts';
import type { AgentInput } from '../../core/agent/input.ts';
import { next } from '../../core/agent/next.ts';
import type { Action } from '../../core/agent/next.ts';
import { thoughtOf } from '../../core/agent/shown.ts';
import { nextDelay } from '../../core/backoff.ts';
import { limitsOf, queueOf } from '../activities.ts';
import { problemOf } from '../failures.ts';
import type { StepProblem } from '../failures.ts';
import { move, record } from '../position.ts';
import { askOperator } from './ask-operator.ts';
import type { AgentRun } from './run.ts';
import { tell } from './tell.ts';

/** Calls the model once. What came of it is told; whether there is to be another call the machine then says. */
export async function think(
  run: AgentRun,
  { turn, effectKey }: Action & { do: 'call-model' },
): Promise<void> {
  await untilDue(run);
  const { version, request, model, policy, limits } = run.input;
  const { head, digest, window, notes } = run.state;
  const { maxOutputTokens, maxCallsPerTurn, maxArgumentChars, modelTimeoutMs } = limits;
  const call = {
    limits: { ...limitsOf(policy), partnerTimeoutMs: modelTimeoutMs },
    turn,
    effectKey,
    state: { window, notes, ...(head && { head }), ...(digest && { digest }) },
    input: {
      version,
      request,
      model,
      limits: { maxOutputTokens, maxCallsPerTurn, maxArgumentChars },
    },
  };
  try {
    const thinking = modelOf(run.input).think;
    answered(run, turn, await thinking.executeWithOptions({ summary: `turn ${turn}` }, [call]));
  } catch (error) {
    // Only a call that no worker has begun: one that is under way answers first.
    if (isCancellation(error)) throw error;
    await failed(run, turn, problemOf(error));
  }
}

function modelOf({ policy, limits }: AgentInput) {
  return proxyActivities<AgentActivities['model']>({
    taskQueue: queueOf('model'),
    startToCloseTimeout: limits.modelTimeoutMs + policy.attemptTimeoutMs,
    heartbeatTimeout: policy.heartbeatMs,
    // An answer that is under way is paid for, and has to be counted before the run ends.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    // Between a lost call and the next one the budget is looked at, which the engine can't.
    retry: { maximumAttempts: 1 },
  });
}

/** After a failure, not before its time. */
async function untilDue(run: AgentRun): Promise<void> {
  const { nextAttemptAt } = run.position;
  if (nextAttemptAt === undefined) return move(run, { step: 'think', status: 'running' });
  const wait = Date.parse(nextAttemptAt) - Date.now();
  if (wait > 0) await sleep(wait);
}

function answered(run: AgentRun, turn: number, thought: Thought): void {
  const { spent: before } = run.state;
  tell(run, { kind: 'model-answered', turn, ...thought });
  forgetFailures(run);
  record(run, thoughtOf(turn, thought.answer, before, run.state.spent));
}

async function failed(run: AgentRun, turn: number, problem: StepProblem): Promise<void> {
  const { failureClass, message } = problem;
  if (failureClass === 'unknown') {
    const lostCalls = run.state.lost + 1;
    tell(run, { kind: 'calls-lost', turn, lostCalls });
    record(run, { type: 'calls-lost', turn, lostCalls });
    // There may be no money for another one.
    if (next(run.input, run.state).do === 'end') return;
  } else {
    run.failed += 1;
  }
  const delay = delayAfter(run, problem);
  const attempts = run.failed + run.state.lost;
  run.position = { ...run.position, attempts, lastFailure: message };
  delete run.position.nextAttemptAt;
  if (delay === 'give-up') {
    await askOperator(run, 'think', problem);
    forgetFailures(run);
    return;
  }
  run.position.nextAttemptAt = new Date(Date.now() + delay).toISOString();
  move(run, { step: 'think', status: 'retrying' });
}

/** What was lost is bounded by the budget and not by attempts; it only waits longer each time. */
function delayAfter(
  { input: { policy }, state, failed: failures }: AgentRun,
  { failureClass, retryAfterMs }: StepProblem,
): number | 'give-up' {
  const lost = failureClass === 'unknown';
  const attempt = lost ? Math.min(state.lost, policy.maxAttempts - 1) : failures;
  return nextDelay(failureClass, attempt, policy, Math.random, retryAfterMs);
}

function forgetFailures(run: AgentRun): void {
  run.failed = 0;
  run.position = { ...run.position, attempts: 0 };
  delete run.position.nextAttemptAt;
  delete run.position.lastFailure;
}
