-- The application's own table. The effect key is the processed marker: it stands in the business row
-- itself, so that one cannot be written without the other.
CREATE SCHEMA IF NOT EXISTS app;

CREATE TABLE IF NOT EXISTS app.invoice (
  invoice_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  effect_key   text NOT NULL UNIQUE,
  buyer_id     text NOT NULL,
  order_ref    text NOT NULL,
  currency     text NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor >= 0),
  issued_at    timestamptz NOT NULL DEFAULT now()
);
