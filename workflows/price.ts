import { executeChild, workflowInfo } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { OrderId } from '../core/identity.ts';
import { formatMoney } from '../core/order/money.ts';
import type { OrderLine } from '../core/order/schema.ts';
import { totals } from '../core/order/totals.ts';
import type { Policy } from '../core/policy.ts';
import { activitiesOf, callOf } from './activities.ts';
import { eachOf } from './each-of.ts';
import type { Run } from './run.ts';

/**
 * One run prices this many lines itself, at about six events a line: far below the 10,240 events at which
 * the engine warns. A larger order leaves them to children, this many lines each.
 */
const LINES_PER_RUN = 250;

export interface LinesInput {
  id: OrderId;
  input: { revision: number; policy: Policy };
  supplierId: string;
  currency: string;
  lines: Pick<OrderLine, 'lineId' | 'sku' | 'unitPrice'>[];
}

/** Asks for the price of every line that has none yet, then adds the order up. Throws StepFailure (`refused`) when it doesn't. */
export async function priceOrder(run: Run): Promise<string> {
  const { order } = run.input;
  const missing = order.lines.filter(({ lineId }) => !run.prices.has(lineId));
  if (order.lines.length <= LINES_PER_RUN) {
    await priceHere(linesInput(run, missing), run.prices);
  } else {
    // One child after the other: "eight at a time" is per order.
    for (let at = 0; at < missing.length; at += LINES_PER_RUN) {
      await priceInChild(run, missing.slice(at, at + LINES_PER_RUN), at / LINES_PER_RUN);
    }
  }
  run.totals = totals(order, run.prices);
  return `${order.lines.length} lines, ${formatMoney(run.totals.payable)}`;
}

/** The child workflow: prices some of an order's lines and returns the unit prices by line id. */
export async function priceLines(
  input: LinesInput,
): Promise<[lineId: string, unitPrice: string][]> {
  const prices = new Map<string, string>();
  await priceHere(input, prices);
  return [...prices];
}

async function priceHere(input: LinesInput, prices: Map<string, string>): Promise<void> {
  const { supplierId, currency, lines } = input;
  const { supplier } = activitiesOf(input.input.policy);
  const call = callOf(input, false);
  await eachOf(lines, input.input.policy.fanOut, async ({ lineId, sku, unitPrice }) => {
    const asked = { ...call, supplierId, currency, sku };
    const priced = await supplier.price.executeWithOptions({ summary: `line ${lineId}` }, [
      unitPrice === undefined ? asked : { ...asked, unitPrice },
    ]);
    prices.set(lineId, priced);
  });
}

async function priceInChild(run: Run, lines: OrderLine[], n: number): Promise<void> {
  const input = linesInput(run, lines);
  try {
    const prices = await executeChild(priceLines, {
      args: [input],
      workflowId: `${workflowInfo().workflowId}/lines/${n}`,
      // Prices are only read, so a replayed step may ask again under the same id.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      parentClosePolicy: 'REQUEST_CANCEL',
      cancellationType: 'WAIT_CANCELLATION_COMPLETED',
      workflowTaskTimeout: run.input.policy.workflowTaskTimeoutMs,
      staticSummary: `Prices of ${lines.length} lines of ${run.id.orderRef}`,
    });
    for (const [lineId, unitPrice] of prices) run.prices.set(lineId, unitPrice);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    // A reset to before this child was started finds it still running and could not await it.
    await priceHere(input, run.prices);
  }
}

function linesInput({ id, input }: Run, lines: OrderLine[]): LinesInput {
  const { order, policy, revision } = input;
  return {
    id,
    input: { revision, policy },
    supplierId: order.supplierId,
    currency: order.currency,
    lines: lines.map(({ lineId, sku, unitPrice }) =>
      unitPrice === undefined ? { lineId, sku } : { lineId, sku, unitPrice },
    ),
  };
}
