import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type {
  DeadLetter,
  DeadLetters,
  OperatorResult,
  RunPosition,
} from '../../../core/contract.ts';
import type { OrderId } from '../../../core/identity.ts';
import { canonicalJson } from '../../../core/order/canonical.ts';
import { toRunInput } from '../../../core/order/run-input.ts';
import { defaultPolicy } from '../../../core/policy.ts';
import type { AgentOutcome, AnyStep } from '../../../core/steps.ts';
import { operateUpdate } from '../../../workflows/definitions.ts';
import type { OperatorCommand } from '../../../workflows/definitions.ts';
import { MEMO_FAILURES } from '../../../workflows/search-attributes.ts';
import { confirm, digest } from './confirm.ts';
import { describeWorkflow, isRunning, memoPosition } from './description.ts';
import { ORDERS } from './kinds.ts';
import type { Kind } from './kinds.ts';
import { list } from './list.ts';
import { stallOf } from './stall.ts';

/** Temporal has no queue of dead letters: a stuck run is one that waits for an operator. */
export function deadLetters(client: Client, withinMs: number): DeadLetters {
  return {
    ...deadLettersOf(client, withinMs, ORDERS),
    fix: async (id, { by, why, order }) => {
      const { chargeAt } = toRunInput(order, defaultPolicy, new Date());
      const due = chargeAt === undefined ? {} : { chargeAt };
      const command = { action: 'fix', by, why, order, ...due } as const;
      return send(client, withinMs, ORDERS.workflowIdOf(id), command);
    },
  };
}

/** The same of any kind of run, as far as every kind has it. */
export function deadLettersOf<S extends AnyStep, O extends AgentOutcome>(
  client: Client,
  withinMs: number,
  kind: Kind<S, O>,
): Omit<DeadLetters, 'fix'> {
  const operate = (id: OrderId, command: OperatorCommand) =>
    send(client, withinMs, kind.workflowIdOf(id), command);
  return {
    list: async () => {
      const { runs: stuck } = await list(client, kind, { status: 'stuck' });
      const ids = stuck.map(({ id }) => kind.workflowIdOf(id));
      const runs = await Promise.all(ids.map((each) => describeWorkflow(client, each)));
      return {
        kind: 'dead-letters',
        deadLetters: runs.flatMap((run) => (run ? asDeadLetter(run) : [])),
      };
    },
    replay: (id, action) => operate(id, { action: 'replay', by: action.by, why: action.why }),
    discard: (id, action) => operate(id, { action: 'discard', by: action.by, why: action.why }),
  };
}

function asDeadLetter(run: WorkflowExecutionDescription): DeadLetter[] {
  const { id, step, since, waitingFor } = memoPosition<RunPosition>(run);
  // The list has stalled runs too, which no replay helps, and lags behind: it may have been answered since.
  if (waitingFor?.kind !== 'operator') return [];
  return [{ id, step, since, reason: waitingFor.reason, attempts: failuresOf(run) }];
}

/** The engine keeps the last failure of an activity, not each attempt's; so this is once for each time it got stuck. */
function failuresOf({ memo }: WorkflowExecutionDescription): DeadLetter['attempts'] {
  const failures = memo?.[MEMO_FAILURES];
  // Written by our own workflow and nobody else.
  return Array.isArray(failures) ? (failures as DeadLetter['attempts']) : [];
}

async function send(
  client: Client,
  withinMs: number,
  workflowId: string,
  command: OperatorCommand,
): Promise<OperatorResult> {
  const ended = { kind: 'conflict', reason: 'the run has ended' } as const;
  const run = await describeWorkflow(client, workflowId);
  if (!run) return { kind: 'not-found' };
  if (!isRunning(run)) return ended;
  const stalled = await stallOf(client, run);
  if (stalled) return { kind: 'conflict', reason: `no code can take it: ${stalled.reason}` };
  // Repeated while the run is stuck for the same reason, it is the same command; later it is a new one.
  const updateId = `${command.action}/${memoPosition<RunPosition>(run).since}/${digest(canonicalJson(command))}`;
  const sent = { argument: command, updateId };
  const confirmed = await confirm(client, withinMs, workflowId, operateUpdate, sent);
  switch (confirmed.kind) {
    case 'answer':
      return confirmed.answer;
    case 'not-confirmed':
      return confirmed;
    case 'ended':
      return ended;
    default:
      return confirmed satisfies never;
  }
}
