import { randomUUID } from 'node:crypto';
import { collect, UNNAMED_MS } from '../../agent/store/collect.ts';
import { places } from '../agent/where.ts';
import { CANARY_QUEUE, flyCanary } from '../dead-letters/canary.ts';
import { LINES_QUEUE, MAIL_QUEUE } from '../joins/children.ts';
import { reconcile } from '../ledger/reconcile.ts';
import { pruneDetails } from '../pruning/prune-details.ts';
import { pruneLedgers } from '../pruning/prune-ledgers.ts';
import type { Retention } from '../pruning/retention.ts';
import type { Engine } from '../runs/engine.ts';
import { AGENTS_QUEUE, ORDERS_QUEUE } from '../runs/inbox.ts';
import { sweep } from '../runs/sweep.ts';
import { pruneWorkers } from '../versions/presence.ts';
import { lead, stopLeading } from './lead.ts';
import { repeat } from './repeat.ts';

/** Longer than any lease and longer than the longest retry of the shared policy. */
const QUIET_MS = 15 * 60_000;
const BATCH = 100;
/** It reads every transcript there is: once in so many rounds. */
const COLLECT_ROUNDS = 60;
const CALL = { timeoutMs: 10_000 };
const QUEUES = [ORDERS_QUEUE, AGENTS_QUEUE, LINES_QUEUE, MAIL_QUEUE, CANARY_QUEUE];

export interface HouseSettings {
  /** How often each chore is done; 0: not in this worker. */
  everyMs: number;
  retention: Retention;
}

/**
 * The backstops: the sweep, the canary, the comparison with the partners, and what deletes the old.
 * Every worker stands by and one of them does it: before each chore it asks for the lead, which the
 * others get when it has not asked for three rounds.
 */
export async function keepHouse(
  engine: Engine,
  { everyMs, retention }: HouseSettings,
): Promise<void> {
  if (everyMs === 0) return;
  const { pool, transport, partners, metrics, log, worker, draining: stop } = engine;
  const holder = randomUUID();
  const chore = (what: string, work: () => Promise<'more' | 'done'>, rounds = 1) =>
    repeat(what, rounds * everyMs, { stop, log }, async () =>
      (await lead(pool, { holder, worker }, 3 * everyMs)) ? work() : 'done',
    );
  await Promise.all([
    chore('sweep', async () => {
      const swept = await sweep(pool, transport, { quietMs: QUIET_MS, batch: BATCH });
      for (const what of ['runs', 'joins', 'children', 'parents'] as const) {
        const n = swept[what];
        if (n > 0) log.warn({ what, n }, 'the sweep had to wake what nothing else would have');
        metrics.swept.inc({ what }, n);
      }
      return 'done';
    }),
    chore('canary', async () => {
      if (!(await flyCanary(pool, transport))) log.warn('the canary was not seen among the dead');
      return 'done';
    }),
    chore('reconcile', async () => {
      const { disagreements } = await reconcile(pool, partners, { batch: BATCH, call: CALL });
      if (disagreements > 0) log.error({ disagreements }, 'a partner and the ledger disagree');
      return 'done';
    }),
    chore('prune', async () => {
      const { detailsMs, ledgerMs } = retention;
      const details = await pruneDetails(pool, { olderThanMs: detailsMs, batch: BATCH });
      const ledgers = await pruneLedgers(pool, { olderThanMs: ledgerMs, batch: BATCH });
      await pruneWorkers(pool, detailsMs);
      metrics.pruned.inc({ what: 'details' }, details);
      metrics.pruned.inc({ what: 'ledgers' }, ledgers);
      return details === BATCH || ledgers === BATCH ? 'more' : 'done';
    }),
    chore('collect', () => collectOrphans(engine), COLLECT_ROUNDS),
    chore('expire', async () => {
      for (const queue of QUEUES) {
        const { messages, dead } = await transport.expire(queue);
        // Nobody has acted on these in all that time.
        if (messages + dead > 0) log.warn({ queue, messages, dead }, 'messages have expired');
        metrics.pruned.inc({ what: 'messages' }, messages + dead);
      }
      return 'done';
    }),
  ]);
  await stopLeading(pool, holder).catch((error: unknown) => {
    log.warn({ err: error }, 'the next one who keeps house has to wait for the lease');
  });
}

/** What a crash between the store and the checkpoint left behind, and the transcripts of pruned runs. */
async function collectOrphans({ pool, agent, metrics }: Engine): Promise<'done'> {
  if (!agent) return 'done';
  const before = new Date(Date.now() - UNNAMED_MS);
  const { taken } = await collect(agent.store, places(pool), before);
  metrics.pruned.inc({ what: 'stored' }, taken);
  return 'done';
}
