-- Which workers run, and which versions of the pipeline each has: so that a run whose version nobody has
-- is seen, instead of waiting in silence.
CREATE TABLE queue.worker (
  -- Of one start of the process. Its name is for people: two hosts may have the same.
  id uuid PRIMARY KEY,
  name text NOT NULL,
  versions text[] COLLATE "C" NOT NULL,
  started_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  -- Null: it runs, or was lost; `seen_at` tells.
  stopped_at timestamptz
) WITH (
  -- Rewritten every few seconds.
  fillfactor = 50
);
