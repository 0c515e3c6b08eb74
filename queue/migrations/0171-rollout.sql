-- Where new runs begin: read by every submit, so that a rollout and its rollback are a command and no
-- deploy. Without a row it is the version that the code calls current.
CREATE TABLE queue.rollout (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  current_version text COLLATE "C" NOT NULL,
  -- So many of a hundred new runs begin on this one instead.
  ramping_version text COLLATE "C",
  ramping_percent integer NOT NULL DEFAULT 0,
  CHECK (ramping_percent BETWEEN 0 AND 100),
  CHECK ((ramping_version IS NULL) = (ramping_percent = 0)),
  CHECK (ramping_version <> current_version)
);

-- Who changed that, and who moved which run. Some rows a year.
CREATE TABLE queue.version_change (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT statement_timestamp(),
  by text NOT NULL,
  -- set-current, ramp, move
  action text NOT NULL,
  version text COLLATE "C" NOT NULL,
  percent integer,
  run_id text COLLATE "C",
  from_version text COLLATE "C"
);
