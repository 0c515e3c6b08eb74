-- What is kept, and for how long. A run goes in two steps: first everything but its identity, then,
-- when nothing can name it any more, the run itself together with its ledger.

-- How many entries of its history were dropped when the run's details went. Null: it is complete.
ALTER TABLE queue.run ADD COLUMN history_cut integer;

-- An invoice is the business's own and outlives the run that issued it.
ALTER TABLE queue.invoice DROP CONSTRAINT invoice_run_id_fkey;

-- One worker at a time keeps house. A lease and not an advisory lock: that one belongs to a session,
-- and behind a pooler in transaction mode the session is somebody else's a moment later.
CREATE TABLE queue.housekeeper (
  name text PRIMARY KEY,
  holder uuid NOT NULL,
  -- For people: nothing is decided by it.
  worker text NOT NULL,
  lease_until timestamptz NOT NULL
);

-- Tables whose rows change or go all the time are vacuumed by count or by a small share, without the
-- pauses meant for big, cold ones: with the default of a fifth, a table of millions of rows carries
-- hundreds of thousands of dead ones along.
ALTER TABLE queue.run_join SET (
  -- Its counter moves with every child: room on the page keeps that off the indexes.
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE queue.ledger SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE queue.timer SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE queue.gate SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE queue.run_input SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE queue.run_history SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE queue.run_attempt SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE queue.dead_message SET (autovacuum_vacuum_scale_factor = 0.05);
-- A handful of rows, each written with every request of a limited partner.
ALTER TABLE queue.partner_limit SET (
  fillfactor = 20,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
