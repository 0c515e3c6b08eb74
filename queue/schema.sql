-- What the migrations add up to. Written by `npm run schema`; a test compares it.

CREATE SCHEMA queue;

CREATE SEQUENCE queue.invoice_number AS bigint CACHE 1;

CREATE TABLE queue.agent_input (
  run_id text COLLATE "C" NOT NULL,
  input jsonb NOT NULL,
  CONSTRAINT agent_input_pkey PRIMARY KEY (run_id),
  CONSTRAINT agent_input_run_id_fkey FOREIGN KEY (run_id) REFERENCES queue.run(id)
) WITH (
  autovacuum_vacuum_scale_factor=0.05
);

CREATE TABLE queue.agent_rollout (
  only_one boolean DEFAULT true NOT NULL,
  current_version text COLLATE "C" NOT NULL,
  ramping_version text COLLATE "C",
  ramping_percent integer DEFAULT 0 NOT NULL,
  CONSTRAINT agent_rollout_pkey PRIMARY KEY (only_one),
  CONSTRAINT agent_rollout_check CHECK (((ramping_version IS NULL) = (ramping_percent = 0))),
  CONSTRAINT agent_rollout_check1 CHECK ((ramping_version <> current_version)),
  CONSTRAINT agent_rollout_only_one_check CHECK (only_one),
  CONSTRAINT agent_rollout_ramping_percent_check CHECK (((ramping_percent >= 0) AND (ramping_percent <= 100)))
);

CREATE TABLE queue.canary (
  name text NOT NULL,
  sent_at timestamp with time zone,
  seen_at timestamp with time zone,
  CONSTRAINT canary_pkey PRIMARY KEY (name)
);

CREATE TABLE queue.dead_letter (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  revision integer NOT NULL,
  step text NOT NULL,
  reason text NOT NULL,
  queue text,
  message_id text,
  resolution text,
  resolved_at timestamp with time zone,
  resolved_by text,
  why text,
  before jsonb,
  after jsonb,
  CONSTRAINT dead_letter_pkey PRIMARY KEY (id),
  CONSTRAINT dead_letter_run_id_fkey FOREIGN KEY (run_id) REFERENCES queue.run(id),
  CONSTRAINT dead_letter_resolution_check CHECK ((resolution = ANY (ARRAY['replayed'::text, 'fixed'::text, 'discarded'::text])))
);

CREATE TABLE queue.dead_message (
  id bigint NOT NULL,
  sent_at timestamp with time zone NOT NULL,
  dead_at timestamp with time zone NOT NULL,
  receives integer NOT NULL,
  queue text COLLATE "C" NOT NULL,
  key text COLLATE "C",
  reason text NOT NULL,
  body json NOT NULL,
  attempts jsonb,
  CONSTRAINT dead_message_pkey PRIMARY KEY (id)
) WITH (
  autovacuum_vacuum_scale_factor=0.05
);

CREATE TABLE queue.disagreement (
  effect_key text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  expected integer NOT NULL,
  found integer NOT NULL,
  detail text NOT NULL,
  CONSTRAINT disagreement_pkey PRIMARY KEY (effect_key)
);

CREATE TABLE queue.evidence (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  effect_key text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  worker text NOT NULL,
  at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  outcome jsonb NOT NULL,
  CONSTRAINT evidence_pkey PRIMARY KEY (id)
);

CREATE TABLE queue.gate (
  run_id text COLLATE "C" NOT NULL,
  gate text COLLATE "C" NOT NULL,
  gate_version integer NOT NULL,
  revision integer NOT NULL,
  state text COLLATE "C" NOT NULL,
  who text NOT NULL,
  opened_at timestamp with time zone NOT NULL,
  until timestamp with time zone NOT NULL,
  reminded_at timestamp with time zone,
  escalated_at timestamp with time zone,
  decision text,
  decided_by text,
  decided_at timestamp with time zone,
  CONSTRAINT gate_pkey PRIMARY KEY (run_id, gate, gate_version),
  CONSTRAINT gate_state_check CHECK ((state = ANY (ARRAY['open'::text, 'answered'::text, 'expired'::text, 'withdrawn'::text])))
) WITH (
  autovacuum_vacuum_scale_factor=0.05
);

CREATE TABLE queue.housekeeper (
  name text NOT NULL,
  holder uuid NOT NULL,
  worker text NOT NULL,
  lease_until timestamp with time zone NOT NULL,
  CONSTRAINT housekeeper_pkey PRIMARY KEY (name)
);

CREATE TABLE queue.invoice (
  effect_key text COLLATE "C" NOT NULL,
  invoice_number text NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  currency text NOT NULL,
  amount_minor bigint NOT NULL,
  issued_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  CONSTRAINT invoice_invoice_number_key UNIQUE (invoice_number),
  CONSTRAINT invoice_pkey PRIMARY KEY (effect_key)
);

CREATE TABLE queue.join_child (
  join_id text COLLATE "C" NOT NULL,
  child_id text COLLATE "C" NOT NULL,
  ordinal integer NOT NULL,
  state text COLLATE "C" DEFAULT 'waiting'::text NOT NULL,
  token bigint DEFAULT 0 NOT NULL,
  lease_until timestamp with time zone,
  leased_at timestamp with time zone,
  sent_at timestamp with time zone,
  attempts integer DEFAULT 0 NOT NULL,
  lost_workers integer DEFAULT 0 NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  missing_failures integer DEFAULT 0 NOT NULL,
  message_id text,
  worker text,
  input jsonb NOT NULL,
  outcome jsonb,
  not_before timestamp with time zone,
  CONSTRAINT join_child_pkey PRIMARY KEY (join_id, child_id),
  CONSTRAINT join_child_join_id_fkey FOREIGN KEY (join_id) REFERENCES queue.run_join(id),
  CONSTRAINT join_child_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'done'::text])))
) WITH (
  fillfactor=70,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000,
  autovacuum_vacuum_cost_delay=0
);

CREATE TABLE queue.last_look (
  what text NOT NULL,
  at timestamp with time zone NOT NULL,
  by text NOT NULL,
  CONSTRAINT last_look_pkey PRIMARY KEY (what)
);

CREATE TABLE queue.ledger (
  effect_key text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  revision integer NOT NULL,
  step text COLLATE "C" NOT NULL,
  partner text NOT NULL,
  state text COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  intent_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  unsure_since timestamp with time zone,
  outcome jsonb,
  done_at timestamp with time zone,
  reconciled_at timestamp with time zone,
  sends integer DEFAULT 1 NOT NULL,
  CONSTRAINT ledger_pkey PRIMARY KEY (effect_key),
  CONSTRAINT ledger_state_check CHECK ((state = ANY (ARRAY['intent'::text, 'done'::text, 'void'::text, 'undone'::text, 'abandoned'::text])))
) WITH (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000,
  autovacuum_vacuum_cost_delay=0
);

CREATE TABLE queue.message (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  visible_at timestamp with time zone NOT NULL,
  sent_at timestamp with time zone NOT NULL,
  claimed_at timestamp with time zone,
  receipt uuid,
  receives integer DEFAULT 0 NOT NULL,
  queue text COLLATE "C" NOT NULL,
  key text COLLATE "C",
  body json NOT NULL,
  attempts jsonb,
  CONSTRAINT message_pkey PRIMARY KEY (id)
) WITH (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=2000,
  autovacuum_vacuum_insert_threshold=-1,
  autovacuum_vacuum_cost_delay=0,
  autovacuum_analyze_scale_factor=0,
  autovacuum_analyze_threshold=20000
);

CREATE TABLE queue.migration (
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  CONSTRAINT migration_pkey PRIMARY KEY (name)
);

CREATE TABLE queue.partner_limit (
  partner text NOT NULL,
  paused_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
  per_second double precision,
  next_slot_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
  CONSTRAINT partner_limit_pkey PRIMARY KEY (partner),
  CONSTRAINT partner_limit_per_second_check CHECK ((per_second > (0)::double precision))
) WITH (
  fillfactor=20,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=500,
  autovacuum_vacuum_cost_delay=0
);

CREATE TABLE queue.rollout (
  only_one boolean DEFAULT true NOT NULL,
  current_version text COLLATE "C" NOT NULL,
  ramping_version text COLLATE "C",
  ramping_percent integer DEFAULT 0 NOT NULL,
  CONSTRAINT rollout_pkey PRIMARY KEY (only_one),
  CONSTRAINT rollout_check CHECK (((ramping_version IS NULL) = (ramping_percent = 0))),
  CONSTRAINT rollout_check1 CHECK ((ramping_version <> current_version)),
  CONSTRAINT rollout_only_one_check CHECK (only_one),
  CONSTRAINT rollout_ramping_percent_check CHECK (((ramping_percent >= 0) AND (ramping_percent <= 100)))
);

CREATE TABLE queue.run (
  id text COLLATE "C" NOT NULL,
  token bigint DEFAULT 0 NOT NULL,
  lease_until timestamp with time zone,
  leased_at timestamp with time zone,
  wake_seq bigint DEFAULT 0 NOT NULL,
  seen_seq bigint DEFAULT 0 NOT NULL,
  woken_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  next_attempt_at timestamp with time zone,
  since timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  started_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  ended_at timestamp with time zone,
  revision integer DEFAULT 1 NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  lost_workers integer DEFAULT 0 NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  missing_failures integer DEFAULT 0 NOT NULL,
  version text COLLATE "C" NOT NULL,
  step text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  parked_for text COLLATE "C",
  outcome text COLLATE "C",
  buyer_id text COLLATE "C" NOT NULL,
  order_ref text COLLATE "C" NOT NULL,
  content_hash text NOT NULL,
  worker text,
  message_id text,
  reason text,
  last_failure text,
  waiting_for jsonb,
  state jsonb DEFAULT '{}'::jsonb NOT NULL,
  history_cut integer,
  kind text COLLATE "C" DEFAULT 'order'::text NOT NULL,
  parent_id text COLLATE "C",
  CONSTRAINT run_pkey PRIMARY KEY (id)
) WITH (
  fillfactor=60,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000,
  autovacuum_vacuum_cost_delay=0
);

CREATE TABLE queue.run_attempt (
  run_id text COLLATE "C" NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  revision integer NOT NULL,
  token bigint NOT NULL,
  step text NOT NULL,
  attempt integer NOT NULL,
  worker text,
  failure_class text NOT NULL,
  message text NOT NULL,
  CONSTRAINT run_attempt_pkey PRIMARY KEY (run_id, id)
) WITH (
  autovacuum_vacuum_scale_factor=0.05
);

CREATE TABLE queue.run_history (
  run_id text COLLATE "C" NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  event jsonb NOT NULL,
  CONSTRAINT run_history_pkey PRIMARY KEY (run_id, id)
) WITH (
  autovacuum_vacuum_scale_factor=0.05
);

CREATE TABLE queue.run_inbox (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  entry jsonb NOT NULL,
  CONSTRAINT run_inbox_pkey PRIMARY KEY (run_id, id)
) WITH (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000
);

CREATE TABLE queue.run_input (
  run_id text COLLATE "C" NOT NULL,
  revision integer NOT NULL,
  order_content jsonb NOT NULL,
  policy jsonb NOT NULL,
  charge_at timestamp with time zone,
  CONSTRAINT run_input_pkey PRIMARY KEY (run_id, revision),
  CONSTRAINT run_input_run_id_fkey FOREIGN KEY (run_id) REFERENCES queue.run(id)
) WITH (
  autovacuum_vacuum_scale_factor=0.05
);

CREATE TABLE queue.run_join (
  id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  total integer NOT NULL,
  done integer DEFAULT 0 NOT NULL,
  width integer NOT NULL,
  completed_at timestamp with time zone,
  closed_at timestamp with time zone,
  CONSTRAINT run_join_pkey PRIMARY KEY (id),
  CONSTRAINT run_join_run_id_fkey FOREIGN KEY (run_id) REFERENCES queue.run(id)
) WITH (
  fillfactor=70,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000,
  autovacuum_vacuum_cost_delay=0
);

CREATE TABLE queue.timer (
  run_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  due_at timestamp with time zone NOT NULL,
  fired_at timestamp with time zone,
  CONSTRAINT timer_pkey PRIMARY KEY (run_id, name, due_at)
) WITH (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000,
  autovacuum_vacuum_cost_delay=0
);

CREATE TABLE queue.version_change (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  by text NOT NULL,
  action text NOT NULL,
  version text COLLATE "C" NOT NULL,
  percent integer,
  run_id text COLLATE "C",
  from_version text COLLATE "C",
  CONSTRAINT version_change_pkey PRIMARY KEY (id)
);

CREATE TABLE queue.worker (
  id uuid NOT NULL,
  name text NOT NULL,
  versions text[] COLLATE "C" NOT NULL,
  started_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  seen_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
  stopped_at timestamp with time zone,
  CONSTRAINT worker_pkey PRIMARY KEY (id)
) WITH (
  fillfactor=50
);

CREATE INDEX dead_letter_by_run ON queue.dead_letter USING btree (run_id);

CREATE UNIQUE INDEX dead_letter_open ON queue.dead_letter USING btree (run_id) WHERE (resolved_at IS NULL);

CREATE INDEX dead_message_by_queue ON queue.dead_message USING btree (queue, id);

CREATE INDEX disagreement_by_run ON queue.disagreement USING btree (run_id);

CREATE INDEX evidence_by_key ON queue.evidence USING btree (effect_key);

CREATE INDEX evidence_by_run ON queue.evidence USING btree (run_id);

CREATE INDEX invoice_by_run ON queue.invoice USING btree (run_id);

CREATE INDEX join_child_unfinished ON queue.join_child USING btree (join_id) WHERE (state <> 'done'::text);

CREATE INDEX join_child_waiting ON queue.join_child USING btree (join_id, ordinal) WHERE (state = 'waiting'::text);

CREATE INDEX ledger_by_run ON queue.ledger USING btree (run_id, revision, intent_at);

CREATE INDEX ledger_to_reconcile ON queue.ledger USING btree (reconciled_at NULLS FIRST, intent_at);

CREATE INDEX message_due ON queue.message USING btree (queue, visible_at);

CREATE INDEX run_agent_newest ON queue.run USING btree (started_at DESC) WHERE (kind = 'agent'::text);

CREATE INDEX run_agent_open ON queue.run USING btree (woken_at) WHERE ((kind = 'agent'::text) AND (ended_at IS NULL));

CREATE INDEX run_by_order_ref ON queue.run USING btree (order_ref);

CREATE INDEX run_by_parent ON queue.run USING btree (parent_id) WHERE (parent_id IS NOT NULL);

CREATE INDEX run_ended ON queue.run USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (history_cut IS NULL));

CREATE INDEX run_newest ON queue.run USING btree (started_at DESC);

CREATE INDEX run_open ON queue.run USING btree (woken_at) WHERE (ended_at IS NULL);

CREATE INDEX run_stuck ON queue.run USING btree (since) WHERE (status = 'stuck'::text);

CREATE INDEX run_without_details ON queue.run USING btree (ended_at) WHERE (history_cut IS NOT NULL);

CREATE INDEX run_join_by_run ON queue.run_join USING btree (run_id);

CREATE INDEX run_join_open ON queue.run_join USING btree (id) WHERE ((completed_at IS NULL) AND (closed_at IS NULL));

CREATE INDEX timer_due ON queue.timer USING btree (due_at) WHERE (fired_at IS NULL);

CREATE OR REPLACE FUNCTION queue.with_attempt(attempts jsonb, began timestamp with time zone, ended timestamp with time zone, outcome text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  SELECT CASE WHEN jsonb_array_length(attempts) >= 50 THEN attempts - 0 ELSE coalesce(attempts, '[]') END
    || jsonb_build_array(jsonb_build_object('began', began, 'ended', ended, 'outcome', outcome))
$function$;
