import type { ClientBase } from 'pg';
import type { PartnerName } from '../../partners/contract.ts';

// The ledger's rows change only here. Every function runs in a transaction that began with a fence.

export interface LedgerKey {
  effectKey: string;
  runId: string;
  revision: number;
  /** A step, or the undo of one. */
  step: string;
  partner: PartnerName;
}

export interface Claimant {
  token: string;
  leasedAt: Date;
}

export type Intent =
  /** Nobody has ever sent this request, or it is known to have done nothing. */
  | { kind: 'fresh'; sends: number }
  /** An earlier request may have been acted on, or still be on its way since `unsureSince`. */
  | { kind: 'unsure'; unsureSince: Date; intentAt: Date; now: Date; sends: number }
  | { kind: 'done'; outcome: unknown };

/**
 * Writes the intent to act, before acting. An intent that is there already belongs to an attempt that
 * did not get to say how it ended: it counts from when its worker was fenced off (`leasedAt` of ours),
 * unless the failure itself told when. `sends` is how often the request may have been sent, once this one is.
 */
export async function writeIntent(
  tx: ClientBase,
  key: LedgerKey,
  claimant: Claimant,
): Promise<Intent> {
  const { rows } = await tx.query<{
    state: string;
    outcome: unknown;
    unsure_since: Date | null;
    intent_at: Date;
    now: Date;
    sends: number;
  }>({
    name: 'ledger-intent',
    text: `
      INSERT INTO queue.ledger AS l (effect_key, run_id, revision, step, partner, state, token)
      VALUES ($1, $2, $3, $4, $5, 'intent', $6)
      ON CONFLICT (effect_key) DO UPDATE SET
        token = EXCLUDED.token,
        state = CASE l.state WHEN 'void' THEN 'intent' ELSE l.state END,
        sends = l.sends + CASE WHEN l.state IN ('intent', 'void') THEN 1 ELSE 0 END,
        unsure_since = CASE l.state WHEN 'intent' THEN coalesce(l.unsure_since, $7) END
      RETURNING state, outcome, unsure_since, intent_at, sends, statement_timestamp() AS now`,
    values: [
      key.effectKey,
      key.runId,
      key.revision,
      key.step,
      key.partner,
      claimant.token,
      claimant.leasedAt,
    ],
  });
  const [row] = rows;
  if (!row) throw new Error(`no ledger row for ${key.effectKey}`);
  if (row.state !== 'intent') return { kind: 'done', outcome: row.outcome };
  const { unsure_since: unsureSince, intent_at: intentAt, sends, now } = row;
  if (!unsureSince) return { kind: 'fresh', sends };
  return { kind: 'unsure', unsureSince, intentAt, now, sends };
}

/** Asked, and it had not happened: this attempt acts, so from now on its own request is the one that may be out. */
export async function renewIntent(tx: ClientBase, effectKey: string): Promise<void> {
  await tx.query(
    `UPDATE queue.ledger SET unsure_since = NULL, intent_at = statement_timestamp()
     WHERE effect_key = $1 AND state = 'intent'`,
    [effectKey],
  );
}

/** The effect has happened once, and this is what came of it. */
export async function writeOutcome(
  tx: ClientBase,
  effectKey: string,
  outcome: unknown,
): Promise<void> {
  await tx.query({
    name: 'ledger-outcome',
    text: `
      UPDATE queue.ledger SET state = 'done', outcome = $2, done_at = statement_timestamp(),
        unsure_since = NULL
      WHERE effect_key = $1 AND state = 'intent'`,
    values: [effectKey, JSON.stringify(outcome)],
  });
}

/** The partner said that it did not act: that request was none. */
export async function writeVoid(tx: ClientBase, effectKey: string): Promise<void> {
  await tx.query(
    `UPDATE queue.ledger SET state = 'void', unsure_since = NULL, sends = greatest(0, sends - 1)
     WHERE effect_key = $1 AND state = 'intent'`,
    [effectKey],
  );
}

/** Nobody knows whether the partner acted: what is out lands within the settle time from now, or never. */
export async function writeUnsure(tx: ClientBase, effectKey: string): Promise<void> {
  await tx.query(
    `UPDATE queue.ledger SET unsure_since = statement_timestamp()
     WHERE effect_key = $1 AND state = 'intent'`,
    [effectKey],
  );
}

/** Taken back, or, as `abandoned`, left to people by an operator. */
export async function writeUndone(
  tx: ClientBase,
  effectKey: string,
  state: 'undone' | 'abandoned',
): Promise<void> {
  await tx.query('UPDATE queue.ledger SET state = $2, unsure_since = NULL WHERE effect_key = $1', [
    effectKey,
    state,
  ]);
}
