-- A second kind of run: the buying agent's. It has the same row, lease, ledger, gates and history; what
-- it adds is small. Workers of before leave its runs alone, since they have none of its versions.

-- `order` or `agent`. Never changes, so it may stand in an index's condition.
ALTER TABLE queue.run
  ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'order',
  -- The agent's run that submitted this order: woken when the order ends.
  ADD COLUMN parent_id text COLLATE "C";

-- How often the request may have been sent. A partner that can't be asked (the model) is paid each time.
ALTER TABLE queue.ledger ADD COLUMN sends integer NOT NULL DEFAULT 1;

-- What a run of the agent goes by, apart from the hot row. There is one revision of it.
CREATE TABLE queue.agent_input (
  run_id text COLLATE "C" PRIMARY KEY REFERENCES queue.run,
  input jsonb NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- Where new runs of the agent begin: as queue.rollout, which is the orders'.
CREATE TABLE queue.agent_rollout (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  current_version text COLLATE "C" NOT NULL,
  ramping_version text COLLATE "C",
  ramping_percent integer NOT NULL DEFAULT 0,
  CHECK (ramping_percent BETWEEN 0 AND 100),
  CHECK ((ramping_version IS NULL) = (ramping_percent = 0)),
  CHECK (ramping_version <> current_version)
);
