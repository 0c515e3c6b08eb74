import type { ClientBase } from 'pg';
import type { AnyStep } from '../../core/steps.ts';
import { withTransaction } from '../database.ts';
import { absorb } from './absorb.ts';
import { closeWaits } from './close-waits.ts';
import type { Engine } from './engine.ts';
import { fence } from './fence.ts';
import { appendHistory } from './history.ts';
import { committed } from './hold.ts';
import type { Change, Holding } from './hold.ts';
import { drainInbox, wake } from './inbox.ts';
import type { InboxEntry } from './inbox.ts';
import type { Run } from './run.ts';
import { saveRun } from './save.ts';
import { settleMessage } from './settle-message.ts';

/**
 * The connection broke while the commit was on its way: what this worker has in memory may be one
 * transition old, so it must not write again. Whoever takes the run next reads what is true.
 */
export class CommitUncertain extends Error {
  override readonly name = 'CommitUncertain';
  constructor(cause: unknown) {
    super('nobody knows whether the transition was committed', { cause });
  }
}

/** Something came from outside: no failure of the step, the holder just looks again at where the run is now. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

type Make = (run: Run, now: Date) => Change;

/** Nothing to say about the run but what was carried. */
export const stays = (run: Run): Change => ({ run, history: [] });

/**
 * One transaction under the fencing token: what was under way, what the outside said meanwhile, and,
 * unless a cancel turned the run, what follows: the other steps that were carried, what `happened` now
 * and what `begins`. Returns whether the run is still ours. Throws LeaseLost, and then nothing was
 * written, or CommitUncertain.
 */
export async function transition(
  engine: Engine,
  holding: Holding,
  happened: Make,
  begins: Make = stays,
): Promise<'held' | 'released'> {
  const { lease, saved } = holding;
  let written = false;
  const done = await withTransaction(engine.pool, async (tx) => {
    const { wakeSeq, parentId, now } = await fence(tx, lease);
    const woken = wakeSeq !== holding.seenSeq;
    const news = woken ? await drainInbox(tx, lease.runId) : [];

    const { changes, turned } = changesOf(holding, news, [happened, begins], now);
    const { run } = lastOf(changes);
    const wish = changes.findLast(({ letGo }) => letGo)?.letGo;
    const letGo = turned || !mayLetGo(run, woken) ? undefined : wish;
    for (const { write } of changes) await write?.(tx, now);
    if (run.state.ending && !saved.state.ending) await closeWaits(tx, lease.runId);
    if (run !== saved || woken || letGo) {
      await appendHistory(
        tx,
        lease.runId,
        changes.flatMap(({ history }) => history),
      );
      await saveRun(tx, run, { seenSeq: wakeSeq, release: letGo !== undefined });
    }
    if (letGo) await settleMessage(tx, engine, holding, { run, letGo, now });
    // A message and no lock on the parent's row: the parent locks its own before its order's.
    if (run.status === 'ended' && parentId) await wake(tx, engine.transport, parentId);
    written = true;
    return { changes, run, wakeSeq, letGo };
  }).catch((error: unknown) => {
    throw written ? new CommitUncertain(error) : error;
  });
  for (const step of stepsLeft(saved, done.changes)) engine.metrics.transitions.inc({ step });
  committed(holding, done.run, done.wakeSeq);
  return done.letGo ? 'released' : 'held';
}

/**
 * What a transition consists of. The first change was under way, and maybe acted, whatever is heard now;
 * for everybody else the rest has not begun yet, so a cancel that is in the inbox comes before it.
 */
function changesOf(
  { run, saved, carried, input }: Holding,
  news: InboxEntry[],
  now: [Make, Make],
  at: Date,
): { changes: Change[]; turned: boolean } {
  const [underWay, ...rest] = [...carried.map((change) => () => change), ...now];
  const first = (underWay ?? stays)(run, at);
  // Under the same lock as the move itself: a cancel that came before the invoice began counts.
  const heard = absorb(first.run, input, news, first.run.step === saved.step);
  const changes: Change[] = [first, heard];
  if (heard.run !== first.run) return { changes, turned: true };
  for (const make of rest) changes.push(make(lastOf(changes).run, at));
  return { changes, turned: false };
}

function lastOf(changes: readonly Change[]): Change {
  const last = changes.at(-1);
  if (!last) throw new Error('a transition without a change');
  return last;
}

/** The steps that something was said about. */
function stepsLeft(saved: Run, changes: readonly Change[]): Set<AnyStep> {
  const steps = new Set<AnyStep>();
  let before = saved;
  for (const { run } of changes) {
    if (run !== before) steps.add(before.step);
    before = run;
  }
  return steps;
}

/**
 * Begins the step at the cursor: its position is committed, and `work` with it (the intent), before
 * anybody outside is asked. Throws Interrupted when a cancel was there first, and what `transition`
 * and `work` throw.
 */
export async function begin<T>(
  engine: Engine,
  holding: Holding,
  work: (tx: ClientBase) => Promise<T>,
): Promise<T> {
  const begun: { value: T }[] = [];
  await transition(engine, holding, stays, (run) => ({
    ...stays(run),
    write: async (tx) => {
      begun.push({ value: await work(tx) });
    },
  }));
  const [first] = begun;
  if (!first) throw new Interrupted('a cancel came before the step began');
  return first.value;
}

/** A wait looks again when it was woken; a retry or an end has nothing to look for. */
function mayLetGo(run: Run, woken: boolean): boolean {
  return !woken || run.parkedFor === 'retry' || run.status === 'ended' || run.status === 'stuck';
}
