-- When a child may be tried again. Its message says so too, but no longer than a queue delays (900 s on
-- SQS), and a partner may ask for a day.
ALTER TABLE queue.join_child ADD COLUMN not_before timestamptz;
