import type { Db } from '../transport/contract.ts';

/** A question to a person, as its row has it. */
export interface GateRow {
  gate: string;
  gateVersion: number;
  revision: number;
  state: 'open' | 'answered' | 'expired' | 'withdrawn';
  openedAt: Date;
  until: Date;
  reminded: boolean;
  escalated: boolean;
  /** A yes, a no, or the words of an answer. */
  decision: string | null;
  decidedBy: string | null;
}

/** All gates of a run, in the order in which it asked. */
export async function readGates(db: Db, runId: string): Promise<GateRow[]> {
  const { rows } = await db.query<GateRow>(
    `SELECT gate, gate_version AS "gateVersion", revision, state, opened_at AS "openedAt", until,
       reminded_at IS NOT NULL AS reminded, escalated_at IS NOT NULL AS escalated,
       decision, decided_by AS "decidedBy"
     FROM queue.gate WHERE run_id = $1 ORDER BY opened_at, gate_version`,
    [runId],
  );
  return rows;
}
