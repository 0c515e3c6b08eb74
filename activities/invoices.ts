import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { StepFailure } from '../core/failures.ts';
import type { OrderId } from '../core/identity.ts';
import type { Money } from '../core/order/money.ts';

export interface Invoices {
  /**
   * Issues the invoice of an effect key, or returns the one already issued under it. Throws a
   * StepFailure: `never` when that one has another amount, `unknown` when the database can't answer.
   */
  issue(input: {
    effectKey: string;
    id: OrderId;
    amount: Money;
  }): Promise<{ invoiceNumber: string }>;
  close(): Promise<void>;
}

/** Any number will do, as long as it is only ours: workers that start together take turns. */
const SETUP_LOCK = 7_203_193;

/** Connects to the application's database and creates its table when it is missing. Throws what `pg` throws. */
export async function openInvoices(databaseUrl: string): Promise<Invoices> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 5,
    application_name: 'q2t-invoices',
    connectionTimeoutMillis: 5_000,
    statement_timeout: 10_000,
  });
  // A database that restarts breaks idle connections; without a listener that would end the process.
  pool.on('error', () => undefined);
  try {
    await createTable(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { issue: (input) => issue(pool, input), close: () => pool.end() };
}

async function createTable(pool: pg.Pool): Promise<void> {
  const sql = await readFile(new URL('./invoices.sql', import.meta.url), 'utf8');
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    // CREATE … IF NOT EXISTS alone still fails when two sessions race on the catalogue.
    await client.query('SELECT pg_advisory_xact_lock($1)', [SETUP_LOCK]);
    await client.query(sql);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

async function issue(
  pool: pg.Pool,
  { effectKey, id, amount }: { effectKey: string; id: OrderId; amount: Money },
): Promise<{ invoiceNumber: string }> {
  // The second part finds the row of an earlier attempt, which the first part then didn't insert.
  const { rows } = await pool
    .query<{ invoice_id: string; currency: string; amount_minor: string }>(
      `WITH issued AS (
         INSERT INTO app.invoice (effect_key, buyer_id, order_ref, currency, amount_minor)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (effect_key) DO NOTHING
         RETURNING invoice_id, currency, amount_minor
       )
       SELECT invoice_id, currency, amount_minor FROM issued
       UNION ALL
       SELECT invoice_id, currency, amount_minor FROM app.invoice WHERE effect_key = $1`,
      [effectKey, id.buyerId, id.orderRef, amount.currency, amount.minor],
    )
    .catch((cause: unknown) => {
      throw new StepFailure(
        'unknown',
        'database',
        `The database did not answer: ${String(cause)}`,
        {
          cause,
        },
      );
    });
  const [row] = rows;
  if (!row) {
    // Another attempt's row was committed after this statement's snapshot: the next attempt sees it.
    throw new StepFailure('busy', 'invoice-race', 'Another attempt is issuing the same invoice.');
  }
  if (row.currency !== amount.currency || row.amount_minor !== String(amount.minor)) {
    throw new StepFailure(
      'never',
      'invoice-mismatch',
      `Invoice ${numberOf(row.invoice_id)} was issued over another amount under the same key.`,
    );
  }
  return { invoiceNumber: numberOf(row.invoice_id) };
}

/** Numbers may have gaps: a conflicting insert uses one up. */
function numberOf(invoiceId: string): string {
  return `INV-${invoiceId.padStart(6, '0')}`;
}
