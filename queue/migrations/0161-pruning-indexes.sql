-- concurrently
-- What is to be pruned next, oldest first; the first one also counts what ended in the last minute.
DROP INDEX CONCURRENTLY IF EXISTS queue.run_ended;
CREATE INDEX CONCURRENTLY run_ended ON queue.run (ended_at)
  WHERE ended_at IS NOT NULL AND history_cut IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS queue.run_without_details;
CREATE INDEX CONCURRENTLY run_without_details ON queue.run (ended_at) WHERE history_cut IS NOT NULL;

-- What belongs to a run, where its key does not say so.
DROP INDEX CONCURRENTLY IF EXISTS queue.evidence_by_run;
CREATE INDEX CONCURRENTLY evidence_by_run ON queue.evidence (run_id);
DROP INDEX CONCURRENTLY IF EXISTS queue.disagreement_by_run;
CREATE INDEX CONCURRENTLY disagreement_by_run ON queue.disagreement (run_id);
DROP INDEX CONCURRENTLY IF EXISTS queue.dead_letter_by_run;
CREATE INDEX CONCURRENTLY dead_letter_by_run ON queue.dead_letter (run_id);
