-- What used up its budget, and what became of it. A row stays after it is resolved.

CREATE TABLE queue.dead_letter (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES queue.run,
  at timestamptz NOT NULL DEFAULT statement_timestamp(),
  revision integer NOT NULL,
  step text NOT NULL,
  reason text NOT NULL,
  -- The dead message in the transport, which a resolution takes out of the dead-letter queue.
  queue text,
  message_id text,
  resolution text CHECK (resolution IN ('replayed', 'fixed', 'discarded')),
  resolved_at timestamptz,
  resolved_by text,
  why text,
  -- The orders before and after a fix.
  before jsonb,
  after jsonb
);

-- A run is stuck once at a time.
CREATE UNIQUE INDEX dead_letter_open ON queue.dead_letter (run_id) WHERE resolved_at IS NULL;

-- "Empty" and "nobody looked" differ: who last looked at the dead letters.
CREATE TABLE queue.last_look (
  what text PRIMARY KEY,
  at timestamptz NOT NULL,
  by text NOT NULL
);

-- A message sent to die on purpose and seen among the dead: a zero is worth what its canary's age says.
CREATE TABLE queue.canary (
  name text PRIMARY KEY,
  sent_at timestamptz,
  seen_at timestamptz
);
