import { isBefore } from '../../core/steps.ts';
import type { InboxEntry } from './inbox.ts';
import type { Run } from './run.ts';
import { compensate } from './transitions.ts';
import type { Moved } from './transitions.ts';

/**
 * What the outside said meanwhile. Only a cancel moves the run by itself; everything else makes the
 * step look again. `started`: the step at the cursor has begun, which is too late for the invoice.
 */
export function absorb(run: Run, entries: readonly InboxEntry[], started: boolean): Moved {
  let moved: Moved = { run, history: [] };
  for (const entry of entries) {
    if (entry.kind !== 'cancel') continue;
    const next = cancel(moved.run, entry, started);
    moved = { run: next.run, history: [...moved.history, ...next.history] };
  }
  return moved;
}

function cancel(run: Run, { by, reason }: { by: string; reason: string }, started: boolean): Moved {
  const { cancel: earlier } = run.state;
  if (earlier?.by === by && earlier.reason === reason) return { run, history: [] };
  if (!cancellable(run, started)) {
    return { run, history: [{ type: 'cancel-too-late', by, reason }] };
  }
  const { run: moved } = compensate(run, { kind: 'end', outcome: 'cancelled', reason });
  // Whoever asked has already put the request into the history.
  return { run: { ...moved, state: { ...moved.state, cancel: { by, reason } } }, history: [] };
}

/** Whether a cancel is honoured. `started`: the step at the cursor has begun, which is too late for the invoice. */
export function cancellable(
  { version, status, state, step }: Pick<Run, 'version' | 'status' | 'state' | 'step'>,
  started: boolean,
): boolean {
  if (status === 'ended' || state.failedUndo || state.ending?.kind === 'end') return false;
  // While the old revision of a fixed order is undone, there is still time.
  if (state.ending) return true;
  return isBefore(version, step, 'invoice') || (step === 'invoice' && !started);
}
