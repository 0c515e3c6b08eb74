-- The transport: messages, and nothing about runs. What a receive touches is one narrow row.

CREATE SCHEMA IF NOT EXISTS queue;

CREATE TABLE queue.message (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Wide, fixed-size columns first: no padding, so that one page holds more messages.
  visible_at timestamptz NOT NULL,
  sent_at timestamptz NOT NULL,
  -- When the current or last delivery began; null until the first one.
  claimed_at timestamptz,
  -- The delivery that may ack, nack or extend. Null: never delivered, or handed back. Random, not
  -- from a sequence: claims are not flushed, so after a crash of the server a sequence might give
  -- a number out again, and a consumer from before the crash would hold a valid receipt.
  receipt uuid,
  receives integer NOT NULL DEFAULT 0,
  queue text COLLATE "C" NOT NULL,
  -- The producer's idempotency key: kept through dead letter and redrive, where the id is not.
  key text COLLATE "C",
  -- json, not jsonb: the queue never looks inside, so the text goes in and out as it is.
  body json NOT NULL,
  -- Ended deliveries, oldest first. Null on the happy path, so that it costs nothing there.
  attempts jsonb
) WITH (
  -- A queue's table turns over completely every few seconds: vacuum by count, never by a share
  -- of the table, and without the pauses meant for big, cold tables.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 20000
);

-- Serves the claim: due messages of one queue in the order in which they became due.
CREATE INDEX message_due ON queue.message (queue, visible_at);

CREATE TABLE queue.dead_message (
  -- The id the message had in its queue.
  id bigint PRIMARY KEY,
  sent_at timestamptz NOT NULL,
  dead_at timestamptz NOT NULL,
  receives integer NOT NULL,
  queue text COLLATE "C" NOT NULL,
  key text COLLATE "C",
  reason text NOT NULL,
  body json NOT NULL,
  attempts jsonb
);

CREATE INDEX dead_message_by_queue ON queue.dead_message (queue, id);

-- One more ended delivery in the history of a message. Keeps the last 50: a message that is handed
-- back for ever must not grow for ever. Inlined by the planner, so the happy path doesn't call it.
CREATE FUNCTION queue.with_attempt(attempts jsonb, began timestamptz, ended timestamptz, outcome text)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN jsonb_array_length(attempts) >= 50 THEN attempts - 0 ELSE coalesce(attempts, '[]') END
    || jsonb_build_array(jsonb_build_object('began', began, 'ended', ended, 'outcome', outcome))
$$;
