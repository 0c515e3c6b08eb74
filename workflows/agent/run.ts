import { ApplicationFailure } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type { AgentPosition } from '../../core/agent/contract.ts';
import { requestIdOf } from '../../core/agent/identity.ts';
import type { AgentAsk, AgentInput } from '../../core/agent/input.ts';
import { initialState } from '../../core/agent/state.ts';
import type { AgentState } from '../../core/agent/state.ts';
import { takeUp, versionFor } from '../../core/agent/take-up.ts';
import type { AgentOutcome, AgentStep, Outcome } from '../../core/steps.ts';
import { now } from '../position.ts';
import type { AnyRun, CancelRequest } from '../run.ts';
import { initialPosition } from './initial-position.ts';

/** All that one run of the agent remembers. What the machine goes by is `state`, and nothing else. */
export interface AgentRun extends AnyRun<AgentStep, AgentOutcome> {
  readonly asked: AgentAsk;
  readonly input: AgentInput;
  state: AgentState;
  position: AgentPosition;
  /** Calls of the turn to come that failed and cost nothing. */
  failed: number;
  /** `told`: the machine knows. */
  cancel?: CancelRequest & { told: boolean };
  /** What is being done now; a cancel ends it. */
  doing?: CancellationScope;
  order?: FollowedOrder;
}

/** The order that the run has started, or found. */
export interface FollowedOrder {
  end?: { outcome: Outcome; reason?: string };
  /** It says nothing by itself: an earlier run of the agent has started it, or it was ended from outside. */
  silent: boolean;
  cancelled: boolean;
}

/** What goes from one execution of a chain to the next: plain JSON, some tens of kilobytes. */
export type Carried = Pick<AgentRun, 'state' | 'position' | 'gates' | 'failures' | 'failed'>;

/** What the agent's workflow returns. Every business outcome is a normal return. */
export interface AgentResult {
  outcome: AgentOutcome;
  reason: string;
  position: AgentPosition;
}

/**
 * A run before its first step, or where the execution before left it. Throws an ApplicationFailure for an
 * input that is no request.
 *
 * @param versions that a new run may take, best first; one that goes on keeps its own
 */
export function begin(
  asked: AgentAsk,
  versions: readonly string[],
  carried: Carried | undefined,
): AgentRun {
  // Failing the run beats a workflow task that is retried for ever.
  if (!isAsk(asked)) {
    throw ApplicationFailure.nonRetryable('the input is no request with its limits', 'bad-input');
  }
  const version = carried?.position.version ?? versionFor(asked, versions);
  const fresh = {
    state: initialState(),
    position: initialPosition(asked, now(), version),
    gates: [],
    failures: [],
    failed: 0,
  };
  return {
    id: requestIdOf(asked.request),
    asked,
    input: takeUp(asked, version),
    ...(carried ?? fresh),
  };
}

/** The shape only, so that a rule that a later version changes never bears on a run that is replayed. */
function isAsk(asked: Partial<AgentAsk> | undefined): asked is AgentAsk {
  const { request, limits, policy, promptSizes } = asked ?? {};
  if (typeof request?.buyer?.id !== 'string' || typeof request.requestRef !== 'string')
    return false;
  if (!isObject(asked?.price) || !isObject(promptSizes)) return false;
  const numbers = [
    limits?.maxTurns,
    limits?.maxTokens,
    limits?.modelTimeoutMs,
    policy?.maxAttempts,
    policy?.attemptTimeoutMs,
    policy?.heartbeatMs,
  ];
  return numbers.every((number) => typeof number === 'number' && number > 0);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
