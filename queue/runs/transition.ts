import type { ClientBase } from 'pg';
import { withTransaction } from '../database.ts';
import { absorb } from './absorb.ts';
import { closeWaits } from './close-waits.ts';
import type { Engine } from './engine.ts';
import { fence } from './fence.ts';
import { appendHistory } from './history.ts';
import { committed } from './hold.ts';
import type { Change, Holding } from './hold.ts';
import { drainInbox } from './inbox.ts';
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
 * One transaction under the fencing token, in four parts: the finished steps that were carried here,
 * what `happened` now, what the outside said meanwhile, and what `begins`, unless a cancel turned the
 * run. Returns whether the run is still ours. Throws LeaseLost, and then nothing was written, or
 * CommitUncertain.
 */
export async function transition(
  engine: Engine,
  holding: Holding,
  happened: Make,
  begins: Make = stays,
): Promise<'held' | 'released'> {
  const { lease, saved, carried } = holding;
  let written = false;
  const done = await withTransaction(engine.pool, async (tx) => {
    const { wakeSeq, now } = await fence(tx, lease);
    const woken = wakeSeq !== holding.seenSeq;

    const past = happened(holding.run, now);
    for (const write of carried.writes) await write(tx, now);
    await past.write?.(tx, now);
    const news = woken ? await drainInbox(tx, lease.runId) : [];
    // Under the same lock as the move itself: a cancel that came before the invoice began counts.
    const heard = absorb(past.run, news, past.run.step === saved.step);
    const turned = heard.run !== past.run;
    const next = turned ? stays(heard.run) : begins(heard.run, now);

    const { run } = next;
    const history = [...carried.history, ...past.history, ...heard.history, ...next.history];
    const letGo = turned || !mayLetGo(run, woken) ? undefined : (next.letGo ?? past.letGo);
    if (run.state.ending && !saved.state.ending) await closeWaits(tx, lease.runId);
    const moved = run !== saved || woken || letGo !== undefined;
    if (moved) {
      await appendHistory(tx, lease.runId, history);
      await saveRun(tx, run, { seenSeq: wakeSeq, release: letGo !== undefined });
    }
    await next.write?.(tx, now);
    if (letGo) await settleMessage(tx, engine, holding, { run, letGo, now });
    written = true;
    return { run, wakeSeq, letGo, moved };
  }).catch((error: unknown) => {
    throw written ? new CommitUncertain(error) : error;
  });
  const steps = new Set(done.moved ? [...carried.steps, saved.step] : []);
  for (const step of steps) engine.metrics.transitions.inc({ step });
  committed(holding, done.run, done.wakeSeq);
  return done.letGo ? 'released' : 'held';
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
