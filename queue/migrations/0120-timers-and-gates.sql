-- Wake-ups of any length. A row and not a delayed message: a date weeks ahead outlives every
-- broker's longest delay, can be listed, and is fired once however many schedulers run.

CREATE TABLE queue.timer (
  run_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  due_at timestamptz NOT NULL,
  fired_at timestamptz,
  PRIMARY KEY (run_id, name, due_at)
);

CREATE INDEX timer_due ON queue.timer (due_at) WHERE fired_at IS NULL;

-- The named, versioned questions to people. A paused run holds no worker and no lease.
CREATE TABLE queue.gate (
  run_id text COLLATE "C" NOT NULL,
  gate text COLLATE "C" NOT NULL,
  -- How often the run has asked, this time included.
  gate_version integer NOT NULL,
  -- The business revision that asked: a fixed order asks anew.
  revision integer NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'withdrawn')),
  who text NOT NULL,
  opened_at timestamptz NOT NULL,
  until timestamptz NOT NULL,
  reminded_at timestamptz,
  escalated_at timestamptz,
  decision text,
  decided_by text,
  decided_at timestamptz,
  PRIMARY KEY (run_id, gate, gate_version)
);
