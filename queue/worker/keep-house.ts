import { flyCanary } from '../dead-letters/canary.ts';
import { reconcile } from '../ledger/reconcile.ts';
import type { Engine } from '../runs/engine.ts';
import { sweep } from '../runs/sweep.ts';
import { repeat } from './repeat.ts';

/** Longer than any lease and longer than the longest retry of the shared policy. */
const QUIET_MS = 15 * 60_000;
const BATCH = 100;
const CALL = { timeoutMs: 10_000 };

/** The backstops: the sweep, the canary, the comparison with the partners. Each round may run in several workers at once. */
export async function keepHouse(engine: Engine, everyMs: number): Promise<void> {
  if (everyMs === 0) return;
  const { pool, transport, partners, metrics, log, draining: stop } = engine;
  const round = { stop, log };
  await Promise.all([
    repeat('sweep', everyMs, round, async () => {
      const swept = await sweep(pool, transport, { quietMs: QUIET_MS, batch: BATCH });
      for (const what of ['runs', 'joins', 'children'] as const) {
        const n = swept[what];
        if (n > 0) log.warn({ what, n }, 'the sweep had to wake what nothing else would have');
        metrics.swept.inc({ what }, n);
      }
      return 'done';
    }),
    repeat('canary', everyMs, round, async () => {
      if (!(await flyCanary(pool, transport))) log.warn('the canary was not seen among the dead');
      return 'done';
    }),
    repeat('reconcile', everyMs, round, async () => {
      const { disagreements } = await reconcile(pool, partners, { batch: BATCH, call: CALL });
      if (disagreements > 0) log.error({ disagreements }, 'a partner and the ledger disagree');
      return 'done';
    }),
  ]);
}
