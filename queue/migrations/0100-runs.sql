-- Runs: one row per order with its position, one row per transition. A message only says "look at
-- this run"; everything it would have to carry is here.

CREATE TABLE queue.run (
  -- The order's business key: buyer and reference, percent-encoded.
  id text COLLATE "C" PRIMARY KEY,
  -- The fencing token: raised by whoever takes the lease, carried by every write of that worker.
  token bigint NOT NULL DEFAULT 0,
  -- Null: nobody has the run. A lease in the past is that of a worker that was lost.
  lease_until timestamptz,
  leased_at timestamptz,
  -- Raised by everything that comes from outside. A holder lets go only of the number it has seen.
  wake_seq bigint NOT NULL DEFAULT 0,
  seen_seq bigint NOT NULL DEFAULT 0,
  -- When the last wake-up was sent: what the sweep judges a lost one by.
  woken_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  next_attempt_at timestamptz,
  since timestamptz NOT NULL DEFAULT statement_timestamp(),
  started_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  ended_at timestamptz,
  revision integer NOT NULL DEFAULT 1,
  attempts integer NOT NULL DEFAULT 0,
  lost_workers integer NOT NULL DEFAULT 0,
  -- Failures of the step in progress against their two budgets.
  failures integer NOT NULL DEFAULT 0,
  missing_failures integer NOT NULL DEFAULT 0,
  -- The version of the pipeline that the run started with, and stays with.
  version text COLLATE "C" NOT NULL,
  step text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  -- Why nobody works on it although it has not ended: retry, gate, date, join, operator.
  parked_for text COLLATE "C",
  outcome text COLLATE "C",
  buyer_id text COLLATE "C" NOT NULL,
  order_ref text COLLATE "C" NOT NULL,
  content_hash text NOT NULL,
  worker text,
  -- The message under which the lease is held: its own redelivery is not a second wake-up.
  message_id text,
  reason text,
  last_failure text,
  waiting_for jsonb,
  -- What the steps found out and later steps need: payable amount, score, ids. Small.
  state jsonb NOT NULL DEFAULT '{}'
) WITH (
  -- A run's row is written some thirty times: room on the page keeps these updates off the indexes.
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX run_newest ON queue.run (started_at DESC);
CREATE INDEX run_by_order_ref ON queue.run (order_ref);
-- What is alive, for the sweep and the operators. No column here changes while a step runs.
CREATE INDEX run_open ON queue.run (woken_at) WHERE ended_at IS NULL;
CREATE INDEX run_stuck ON queue.run (since) WHERE status = 'stuck';

-- The order itself, apart from the hot row: a 2,000-line order must not be rewritten with each step.
CREATE TABLE queue.run_input (
  run_id text COLLATE "C" NOT NULL REFERENCES queue.run,
  revision integer NOT NULL,
  order_content jsonb NOT NULL,
  policy jsonb NOT NULL,
  charge_at timestamptz,
  PRIMARY KEY (run_id, revision)
);

-- Written under the run's row lock, so the order of ids is the order of events.
CREATE TABLE queue.run_history (
  run_id text COLLATE "C" NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT statement_timestamp(),
  event jsonb NOT NULL,
  PRIMARY KEY (run_id, id)
);

-- What came from outside and the holder has not looked at yet.
CREATE TABLE queue.run_inbox (
  id bigint GENERATED ALWAYS AS IDENTITY,
  run_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT statement_timestamp(),
  entry jsonb NOT NULL,
  PRIMARY KEY (run_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Attempts that failed or whose worker was lost: what an operator compares. A good one leaves none.
CREATE TABLE queue.run_attempt (
  run_id text COLLATE "C" NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT statement_timestamp(),
  revision integer NOT NULL,
  token bigint NOT NULL,
  step text NOT NULL,
  attempt integer NOT NULL,
  -- Says the version of its code too, which a deploy between two attempts changes.
  worker text,
  failure_class text NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (run_id, id)
);
