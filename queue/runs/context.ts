import { withTransaction } from '../database.ts';
import { perform } from '../ledger/effect.ts';
import type { Performed, Performer } from '../ledger/effect.ts';
import type { StepContext } from '../steps/step.ts';
import type { Engine } from './engine.ts';
import { fence } from './fence.ts';
import type { Holding } from './hold.ts';
import { orderIdOfRun } from './run.ts';

/**
 * What one attempt of a step may use. Whatever it performs is noted in `learnt` until it is committed:
 * should the lease be gone by then, that is what is kept as evidence.
 */
export function contextOf(
  engine: Engine,
  { lease, run, input }: Holding,
  signal: AbortSignal,
  learnt: Performed<unknown>[],
): StepContext {
  const performer: Performer = {
    token: lease.token,
    leasedAt: lease.leasedAt,
    leaseMs: lease.leaseMs,
    fenced: (work) =>
      withTransaction(engine.pool, async (tx) => {
        await fence(tx, lease);
        return work(tx);
      }),
    policy: input.policy,
    metrics: engine.metrics,
    signal,
  };
  return {
    id: orderIdOfRun(run.id),
    run,
    input,
    partners: engine.partners,
    transport: engine.transport,
    db: engine.pool,
    async now() {
      const { rows } = await engine.pool.query<{ now: Date }>(
        'SELECT statement_timestamp() AS now',
      );
      const [row] = rows;
      if (!row) throw new Error('the database has no clock');
      return row.now;
    },
    async perform(effect) {
      const { revision } = run;
      const performed = await perform(performer, { ...effect, runId: run.id, revision });
      learnt.push(performed);
      return performed;
    },
  };
}
