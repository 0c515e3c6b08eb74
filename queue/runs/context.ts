import { businessKey } from '../../core/identity.ts';
import { withTransaction } from '../database.ts';
import { perform } from '../ledger/effect.ts';
import type { Performer } from '../ledger/effect.ts';
import type { StepContext } from '../steps/step.ts';
import { cancel } from './cancel.ts';
import type { Engine } from './engine.ts';
import { fence } from './fence.ts';
import type { Holding } from './hold.ts';
import type { AnyInput } from './input.ts';
import { idOfRun } from './run.ts';
import { begin, Interrupted } from './transition.ts';

/**
 * What one attempt of a step may use. Its two doors to the outside, `perform` and `read`, both commit
 * the position first. What it performs is noted in `learnt` until it is committed: should the lease
 * be gone by then, that is what is kept as evidence.
 */
export function contextOf(
  engine: Engine,
  holding: Holding,
  lost: AbortSignal,
): StepContext<AnyInput> {
  const { lease, run, input } = holding;
  const { policy } = input;
  const performer: Performer = {
    token: lease.token,
    leasedAt: lease.leasedAt,
    leaseMs: lease.leaseMs,
    begin: (work) => begin(engine, holding, work),
    fenced: (work) =>
      withTransaction(engine.pool, async (tx) => {
        await fence(tx, lease);
        return work(tx);
      }),
    policy,
    metrics: engine.metrics,
    signal: lost,
  };
  return {
    id: idOfRun(run.id),
    run,
    input,
    partners: engine.partners,
    agent: engine.agent,
    transport: engine.transport,
    cancelOrder: (id, request) => cancel(engine.pool, engine.transport, businessKey(id), request),
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
      holding.learnt.push(performed);
      return performed;
    },
    async read(ask) {
      await begin(engine, holding, async () => undefined);
      const news = holding.news.signal;
      try {
        const signal = AbortSignal.any([lost, news]);
        return await ask({ timeoutMs: policy.partnerTimeoutMs, signal });
      } catch (error) {
        if (news.aborted) throw new Interrupted('something came from outside', { cause: error });
        throw error;
      }
    },
  };
}
