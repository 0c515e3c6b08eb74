import pg from 'pg';
import { businessKey, type OrderId } from '../../../core/identity.ts';
import { countMessages, countsInWords, openMessages } from '../../observe/messages.ts';
import type { Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';

/** What is still there of an order that should be over, in words; empty when nothing is. */
export type Leftovers = (id: OrderId) => Promise<string[]>;

/** Looks where each implementation keeps things: messages, dead ones too, timers, gates, running runs. */
export async function openLeftovers(stage: Stage, world: World): Promise<Leftovers> {
  if (world.implementation === 'temporal') return ({ buyerId }) => runningRuns(world, buyerId);
  const transport = await openMessages(stage, world);
  const messages = async () => {
    const counts = await countMessages(transport, world);
    const { available, inFlight, delayed, dead } = counts;
    return available + inFlight + delayed + dead > 0 ? [countsInWords(counts)] : [];
  };
  if (world.implementation === 'chain') return messages;
  const pool = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
  stage.cleanUp(() => pool.end());
  return async (id) => [
    ...(await messages()),
    ...(await openWaits(pool, id)),
    ...(await runningRuns(world, id.buyerId)),
  ];
}

async function openWaits(pool: pg.Pool, id: OrderId): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(
    `SELECT 'timer ' || name AS what FROM queue.timer WHERE run_id = $1 AND fired_at IS NULL
     UNION ALL SELECT 'gate ' || gate FROM queue.gate WHERE run_id = $1 AND state = 'open'`,
    [businessKey(id)],
  );
  return rows.map(({ what }) => what);
}

async function runningRuns({ pipeline }: World, buyerId: string): Promise<string[]> {
  const listed = await pipeline.list({ buyerId, limit: 1_000 });
  if (listed.kind === 'cannot') return [];
  return listed.runs
    .filter(({ status }) => status !== 'ended')
    .map(({ id, status }) => `${id.orderRef} ${status}`);
}
