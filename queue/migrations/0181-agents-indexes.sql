-- concurrently
-- The agent's runs are few among many orders: what is open, for the sweep, and the newest, for a list.
DROP INDEX CONCURRENTLY IF EXISTS queue.run_agent_open;
CREATE INDEX CONCURRENTLY run_agent_open ON queue.run (woken_at)
  WHERE kind = 'agent' AND ended_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS queue.run_agent_newest;
CREATE INDEX CONCURRENTLY run_agent_newest ON queue.run (started_at DESC) WHERE kind = 'agent';
-- Which order an agent's run follows.
DROP INDEX CONCURRENTLY IF EXISTS queue.run_by_parent;
CREATE INDEX CONCURRENTLY run_by_parent ON queue.run (parent_id) WHERE parent_id IS NOT NULL;
