import { absorb as absorbEvent } from '../../core/agent/absorb.ts';
import { isBefore } from '../../core/steps.ts';
import type { InboxEntry } from './inbox.ts';
import { isAgentInput } from './input.ts';
import type { AgentRunInput, AnyInput } from './input.ts';
import { kindOfRun, orderStep } from './run.ts';
import type { Run } from './run.ts';
import { compensate, goOn } from './transitions.ts';
import type { Moved } from './transitions.ts';

/**
 * What the outside said meanwhile. Only a cancel moves the run by itself; everything else makes the
 * step look again. `started`: the step at the cursor has begun, which is too late for the invoice.
 */
export function absorb(
  run: Run,
  input: AnyInput,
  entries: readonly InboxEntry[],
  started: boolean,
): Moved {
  let moved: Moved = { run, history: [] };
  for (const entry of entries) {
    if (entry.kind !== 'cancel') continue;
    const next = cancel(moved.run, input, entry, started);
    moved = { run: next.run, history: [...moved.history, ...next.history] };
  }
  return moved;
}

interface Request {
  by: string;
  reason: string;
}

function cancel(run: Run, input: AnyInput, request: Request, started: boolean): Moved {
  const { by, reason } = request;
  const { cancel: earlier } = run.state;
  if (earlier?.by === by && earlier.reason === reason) return { run, history: [] };
  if (!cancellable(run, started)) {
    return { run, history: [{ type: 'cancel-too-late', by, reason }] };
  }
  const moved = isAgentInput(input)
    ? cancelAgent(run, input, request)
    : compensate(run, { kind: 'end', outcome: 'cancelled', reason }).run;
  // Whoever asked has already put the request into the history.
  return { run: { ...moved, state: { ...moved.state, cancel: { by, reason } } }, history: [] };
}

/** The step looks at it next: the agent has ended by it, or has an order that is to be cancelled first. */
function cancelAgent(run: Run, input: AgentRunInput, { by, reason }: Request): Run {
  const { agent } = run.state;
  if (!agent) throw new Error(`${run.id} has no state of the agent`);
  const told = absorbEvent(input, agent, { kind: 'cancelled', by, reason });
  return { ...goOn(run, run.step, { agent: told }), reason: null };
}

/** Whether a cancel is honoured. `started`: the step at the cursor has begun, which is too late for the invoice. */
export function cancellable(
  { id, version, status, state, step }: Pick<Run, 'id' | 'version' | 'status' | 'state' | 'step'>,
  started: boolean,
): boolean {
  if (status === 'ended' || state.failedUndo || state.ending?.kind === 'end') return false;
  // While the old revision of a fixed order is undone, there is still time.
  if (state.ending) return true;
  // An order that the agent has started says itself whether it is too late.
  if (kindOfRun(id) === 'agent') return true;
  return isBefore(version, orderStep(step), 'invoice') || (step === 'invoice' && !started);
}
