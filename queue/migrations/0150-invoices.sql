-- The application's own rows. They are written in the run's transaction, under its fencing token:
-- the business row and the mark that it is done cannot come apart.

CREATE SEQUENCE queue.invoice_number;

CREATE TABLE queue.invoice (
  effect_key text COLLATE "C" PRIMARY KEY,
  invoice_number text NOT NULL UNIQUE,
  run_id text COLLATE "C" NOT NULL REFERENCES queue.run,
  token bigint NOT NULL,
  currency text NOT NULL,
  -- The payable amount in minor units of the currency.
  amount_minor bigint NOT NULL,
  issued_at timestamptz NOT NULL DEFAULT statement_timestamp()
);

CREATE INDEX invoice_by_run ON queue.invoice (run_id);
