import type { Pool } from 'pg';
import type { Call, Partners } from '../../partners/contract.ts';

interface LedgerRow {
  effect_key: string;
  run_id: string;
  step: string;
  partner: string;
  state: 'done' | 'undone' | 'void';
  supplier_id: string;
}

export interface Reconciled {
  compared: number;
  /** Effects that the partner has more or fewer of than the ledger. */
  disagreements: number;
}

/**
 * Compares settled rows of the ledger with what the partners can be asked: charges by key, orders by
 * our reference, mails by message id. It finds the double effects that no worker lived to tell of.
 * Rows compared longest ago come first. Throws StepFailure when a partner doesn't answer.
 */
export async function reconcile(
  pool: Pool,
  partners: Partners,
  { batch, call }: { batch: number; call: Call },
): Promise<Reconciled> {
  const { rows } = await pool.query<LedgerRow>(
    `SELECT l.effect_key, l.run_id, l.step, l.partner, l.state,
       i.order_content->>'supplierId' AS supplier_id
     FROM queue.ledger l JOIN queue.run_input i USING (run_id, revision)
     WHERE l.state IN ('done', 'undone', 'void') AND l.step IN ('charge', 'place', 'invoice')
     ORDER BY l.reconciled_at NULLS FIRST, l.intent_at LIMIT $1`,
    [batch],
  );
  let disagreements = 0;
  for (const row of rows) {
    const expected = row.state === 'void' ? 0 : 1;
    const found = await askPartner(partners, row, call);
    await pool.query(
      'UPDATE queue.ledger SET reconciled_at = statement_timestamp() WHERE effect_key = $1',
      [row.effect_key],
    );
    if (found.length === expected) continue;
    disagreements += 1;
    await pool.query(
      `INSERT INTO queue.disagreement (effect_key, run_id, expected, found, detail)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (effect_key) DO UPDATE SET at = statement_timestamp(),
         expected = EXCLUDED.expected, found = EXCLUDED.found, detail = EXCLUDED.detail`,
      [row.effect_key, row.run_id, expected, found.length, `${row.partner}: ${found.join(', ')}`],
    );
  }
  return { compared: rows.length, disagreements };
}

/** The ids of everything the partner has under this key; cancelled orders happened too. */
async function askPartner(partners: Partners, row: LedgerRow, call: Call): Promise<string[]> {
  const { effect_key: key, run_id: reference } = row;
  switch (row.step) {
    case 'charge':
      return (await partners.payments.findCharges({ reference, key }, call)).map(
        ({ chargeId }) => chargeId,
      );
    case 'place': {
      const asked = { supplierId: row.supplier_id, supplierReference: key };
      return (await partners.supplier.find(asked, call)).map(
        ({ supplierOrderId }) => supplierOrderId,
      );
    }
    default:
      return (await partners.mailer.find({ messageId: key }, call)).map(({ mailId }) => mailId);
  }
}
