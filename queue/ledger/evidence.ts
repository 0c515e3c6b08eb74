import type { Pool } from 'pg';

export interface Learnt {
  effectKey: string;
  runId: string;
  token: string;
  worker: string;
  outcome: unknown;
}

/**
 * Keeps what a stale worker learnt from a partner. The one write that carries no fence: whoever has
 * lost the lease may change nothing, but what it knows is the only proof of a double effect.
 */
export async function keepEvidence(pool: Pool, learnt: Learnt): Promise<void> {
  await pool.query(
    `INSERT INTO queue.evidence (effect_key, run_id, token, worker, outcome)
     VALUES ($1, $2, $3, $4, $5)`,
    [learnt.effectKey, learnt.runId, learnt.token, learnt.worker, JSON.stringify(learnt.outcome)],
  );
}

/**
 * Effects known to have happened twice: a stale worker's outcome that is not the ledger's. A partner
 * that knows the key answers both with the same outcome, and that is no double.
 */
export async function countDoubleEffects(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`
    SELECT count(DISTINCT (effect_key, outcome))::int AS n
    FROM (
      SELECT e.effect_key, e.outcome FROM queue.evidence e
      JOIN queue.ledger l USING (effect_key)
      WHERE l.outcome IS NOT NULL AND l.outcome <> e.outcome
    ) AS other`);
  return rows[0]?.n ?? 0;
}
