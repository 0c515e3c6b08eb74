import { effectKey } from '../../core/identity.ts';
import { formatMoney } from '../../core/order/money.ts';
import { totals } from '../../core/order/totals.ts';
import { StepFailure } from '../../core/failures.ts';
import { LINES_QUEUE } from '../joins/children.ts';
import type { LineInput } from '../joins/children.ts';
import { readJoin, readOutcomes } from '../joins/read-join.ts';
import { startJoin } from '../joins/start-join.ts';
import type { NewJoin } from '../joins/start-join.ts';
import { priceHere } from './price-here.ts';
import type { StepCode, StepContext, StepResult } from './step.ts';

/**
 * Has every line priced and adds the order up. A small order's lines are priced here; each line of a
 * larger one by a child, `fanOut` at a time, and the run looks again when all have ended.
 */
export const price: StepCode = async (context) => {
  const { id, run, db, transport } = context;
  const joinId = effectKey(id, { revision: run.revision, step: 'price' });
  const join = await readJoin(db, joinId);
  if (!join) {
    const prices = await priceHere(context);
    if (prices) return priced(context, prices);
    const started = lineJoin(context, joinId);
    return {
      kind: 'park',
      parkedFor: 'join',
      write: (tx) => startJoin(tx, transport, started),
    };
  }
  if (!join.completed) return { kind: 'park', parkedFor: 'join' };

  const prices = new Map<string, string>();
  for (const [lineId, outcome] of await readOutcomes(db, joinId)) {
    if (outcome.kind === 'refused') throw new StepFailure('refused', 'price', outcome.message);
    if (outcome.kind === 'failed') {
      const reason = `line ${lineId}: ${outcome.message} (${outcome.failureClass})`;
      return { kind: 'give-up', reason };
    }
    prices.set(lineId, outcome.value);
  }
  return priced(context, prices);
};

function priced({ input }: StepContext, prices: Map<string, string>): StepResult {
  const { payable } = totals(input.order, prices);
  const detail = `${input.order.lines.length} lines, ${formatMoney(payable)}`;
  return { kind: 'done', detail, found: { payable } };
}

function lineJoin({ run, input }: StepContext, joinId: string): NewJoin {
  const { supplierId, currency, lines } = input.order;
  return {
    joinId,
    runId: run.id,
    queue: LINES_QUEUE,
    width: input.policy.fanOut,
    children: lines.map(({ lineId, sku, unitPrice }) => {
      const line: LineInput = { supplierId, currency, sku, ...(unitPrice && { unitPrice }) };
      return { childId: lineId, input: line };
    }),
  };
}
