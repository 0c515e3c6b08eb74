-- Fan-out and join: a set of child identities with one outcome each. The set is the truth; the
-- counters beside it are a cache for `where`.

CREATE TABLE queue.run_join (
  -- Names the moment "all of them are done" once: run, revision and what is fanned out.
  id text COLLATE "C" PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES queue.run,
  queue text COLLATE "C" NOT NULL,
  total integer NOT NULL,
  done integer NOT NULL DEFAULT 0,
  -- At most this many children of this join are out at the same time.
  width integer NOT NULL,
  completed_at timestamptz,
  -- The run went on without the answer (cancelled, fixed): children still out are dropped.
  closed_at timestamptz
);

CREATE INDEX run_join_open ON queue.run_join (id) WHERE completed_at IS NULL AND closed_at IS NULL;
CREATE INDEX run_join_by_run ON queue.run_join (run_id);

CREATE TABLE queue.join_child (
  join_id text COLLATE "C" NOT NULL REFERENCES queue.run_join,
  child_id text COLLATE "C" NOT NULL,
  ordinal integer NOT NULL,
  -- waiting: not sent yet. sent: a message is out. done: has its one outcome.
  state text COLLATE "C" NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'done')),
  -- A child has a lease and a fencing token of its own, with the same rules as its run's.
  token bigint NOT NULL DEFAULT 0,
  lease_until timestamptz,
  leased_at timestamptz,
  sent_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  lost_workers integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  missing_failures integer NOT NULL DEFAULT 0,
  message_id text,
  worker text,
  input jsonb NOT NULL,
  outcome jsonb,
  PRIMARY KEY (join_id, child_id)
) WITH (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX join_child_waiting ON queue.join_child (join_id, ordinal) WHERE state = 'waiting';
-- "Is any left?" is one look, not a count: it is asked once per child.
CREATE INDEX join_child_unfinished ON queue.join_child (join_id) WHERE state <> 'done';
