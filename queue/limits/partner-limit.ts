import type { ClientBase, Pool } from 'pg';
import type { Db } from '../transport/contract.ts';
import { PARTNER_NAMES } from '../../partners/contract.ts';
import type { PartnerName } from '../../partners/contract.ts';
import { placeInLine } from './line.ts';

/**
 * How long (ms) to keep away from a partner; 0 when a request may go out now. With a rate set, a 0
 * also takes the slot. In the caller's transaction: who rolls back has not taken it.
 */
export async function waitForPartner(tx: Db, partner: PartnerName): Promise<number> {
  const { rows } = await tx.query<{ wait_ms: number; slot_ms: number | null }>({
    name: 'partner-wait',
    text: `
      SELECT 1000 / per_second AS slot_ms, greatest(0, extract(epoch FROM greatest(
          paused_until, CASE WHEN per_second IS NULL THEN '-infinity' ELSE next_slot_at END
        ) - statement_timestamp()) * 1000)::float8 AS wait_ms
      FROM queue.partner_limit WHERE partner = $1`,
    values: [partner],
  });
  const [row] = rows;
  if (!row) return 0;
  const { wait_ms: waitMs, slot_ms: slotMs } = row;
  if (waitMs > 0) return placeInLine(partner, waitMs, slotMs);
  return slotMs === null ? 0 : takeSlot(tx, partner);
}

/** Two who saw the same free slot: the second waits for the first one's lock and finds it gone. */
async function takeSlot(tx: Db, partner: PartnerName): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'partner-slot',
    text: `
      UPDATE queue.partner_limit SET next_slot_at =
        greatest(next_slot_at, statement_timestamp()) + interval '1 second' / per_second
      WHERE partner = $1 AND next_slot_at <= statement_timestamp()`,
    values: [partner],
  });
  return rowCount ? 0 : waitForPartner(tx, partner);
}

/** A partner asked one of us to wait (429, Retry-After): all of us do. */
export async function pausePartner(
  tx: ClientBase,
  partner: PartnerName,
  pauseMs: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO queue.partner_limit AS l (partner, paused_until)
     VALUES ($1, statement_timestamp() + $2 * interval '1 millisecond')
     ON CONFLICT (partner) DO UPDATE SET paused_until = greatest(l.paused_until, EXCLUDED.paused_until)`,
    [partner, pauseMs],
  );
}

/** Sets how many requests a second all workers together may send to a partner; null: no limit. */
export async function limitPartner(
  pool: Pool,
  partner: PartnerName,
  perSecond: number | null,
): Promise<void> {
  await pool.query(
    `INSERT INTO queue.partner_limit (partner, per_second) VALUES ($1, $2)
     ON CONFLICT (partner) DO UPDATE SET per_second = EXCLUDED.per_second`,
    [partner, perSecond],
  );
}

/** One rate for all workers: the last one that sets it is believed. A partner that is not named has none. */
export async function setRates(
  pool: Pool,
  rates: Partial<Record<PartnerName, number>>,
): Promise<void> {
  for (const partner of PARTNER_NAMES) await limitPartner(pool, partner, rates[partner] ?? null);
}
