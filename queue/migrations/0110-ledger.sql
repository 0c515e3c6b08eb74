-- The effect ledger: one row per effect key, written before the effect and again after it. It outlives
-- the dead letters: a replay years later still finds what was done.

CREATE TABLE queue.ledger (
  effect_key text COLLATE "C" PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL,
  revision integer NOT NULL,
  step text COLLATE "C" NOT NULL,
  partner text NOT NULL,
  -- intent: a request may be out. done: the outcome is known. void: known not to have happened.
  -- undone: taken back. abandoned: left to people by an operator.
  state text COLLATE "C" NOT NULL
    CHECK (state IN ('intent', 'done', 'void', 'undone', 'abandoned')),
  token bigint NOT NULL,
  intent_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  -- Since when nobody who could still send the request holds the lease: the settle time counts from here.
  unsure_since timestamptz,
  outcome jsonb,
  done_at timestamptz,
  -- When the partner's own statement was last compared with this row.
  reconciled_at timestamptz
);

CREATE INDEX ledger_by_run ON queue.ledger (run_id, revision, intent_at);
CREATE INDEX ledger_to_reconcile ON queue.ledger (reconciled_at NULLS FIRST, intent_at);

-- What a stale worker learnt from a partner. Outside the fence on purpose: it is the only proof of a
-- double effect, and whoever has it is by definition no longer allowed to write anything else.
CREATE TABLE queue.evidence (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  effect_key text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  worker text NOT NULL,
  at timestamptz NOT NULL DEFAULT statement_timestamp(),
  outcome jsonb NOT NULL
);

CREATE INDEX evidence_by_key ON queue.evidence (effect_key);

-- Where a partner's statement and the ledger disagree. One row per key, the newest finding.
CREATE TABLE queue.disagreement (
  effect_key text COLLATE "C" PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT statement_timestamp(),
  expected integer NOT NULL,
  found integer NOT NULL,
  detail text NOT NULL
);

-- Limits that all workers share: a 429 slows all of them and not each alone.
CREATE TABLE queue.partner_limit (
  partner text PRIMARY KEY,
  paused_until timestamptz NOT NULL DEFAULT '-infinity',
  -- Null: no rate limit, only pauses that the partner asked for.
  per_second double precision CHECK (per_second > 0),
  next_slot_at timestamptz NOT NULL DEFAULT '-infinity'
);
