import { CancellationScope, sleep } from '@temporalio/workflow';
import { chargeNeeded, creditVerdict, screeningVerdict } from '../core/decisions.ts';
import { StepFailure } from '../core/failures.ts';
import { formatMoney } from '../core/order/money.ts';
import type { Money } from '../core/order/money.ts';
import type { UndoableStep } from '../core/steps.ts';
import { activitiesOf, callOf, checksOf } from './activities.ts';
import { approval } from './approve.ts';
import { move, now } from './position.ts';
import { priceOrder } from './price.ts';
import type { Run } from './run.ts';
import { effectStep, step, stopIfCancelled } from './step.ts';

// What each step does; in which order is the workflow's business. All throw what `step` throws.

export const validate = (run: Run) =>
  step(run, 'validate', async () => {
    const faults = await checksOf().validate(run.input);
    if (faults.length > 0) throw new StepFailure('refused', 'invalid', faults.join('; '));
    return undefined;
  });

export const price = (run: Run) => step(run, 'price', () => priceOrder(run));

export const credit = (run: Run) =>
  step(run, 'credit', async (again) => {
    const amount = payableOf(run);
    // An enquiry costs money, and the bureau takes no question about nothing.
    if (!chargeNeeded(amount)) return 'nothing to lend';
    const score = await partnersOf(run).bureau.credit({ ...callOf(run, again), amount });
    const verdict = creditVerdict(score, run.input.policy);
    if (verdict.kind === 'refused') throw new StepFailure('refused', 'credit', verdict.reason);
    return `score ${score}`;
  });

export const screen = (run: Run) =>
  step(run, 'screen', async (again) => {
    const { name } = run.input.order.buyer;
    const listed = await partnersOf(run).bureau.screen({ ...callOf(run, again), name });
    const verdict = screeningVerdict(listed);
    if (verdict.kind === 'refused') throw new StepFailure('refused', 'listed', verdict.reason);
    return 'on no list';
  });

export const approve = (run: Run) => step(run, 'approve', () => approval(run, payableOf(run)));

export const reserve = (run: Run) =>
  effectStep(run, 'reserve', {
    work: (again) => {
      const lines = run.input.order.lines.map(({ sku, quantity }) => ({ sku, quantity }));
      return partnersOf(run).warehouse.reserve({ ...callOf(run, again), lines });
    },
    undo: (again) => undo(run, 'reserve', again),
  });

/** On its day: until then a timer of the engine runs, which a cancel ends. */
export async function charge(run: Run): Promise<void> {
  await untilDue(run, run.input.chargeAt);
  const amount = payableOf(run);
  await effectStep(run, 'charge', {
    work: async (again) => {
      if (!chargeNeeded(amount)) return 'nothing to charge';
      const summary = formatMoney(amount);
      const input = { ...callOf(run, again), amount };
      return partnersOf(run).payments.charge.executeWithOptions({ summary }, [input]);
    },
    undo: (again) => undo(run, 'charge', again),
  });
}

export async function place(run: Run): Promise<void> {
  const { supplierId, lines } = run.input.order;
  await effectStep(run, 'place', {
    work: (again) => {
      const goods = lines.map(({ sku, quantity, unit }) => ({ sku, quantity, unit }));
      return partnersOf(run).supplier.place({ ...callOf(run, again), supplierId, lines: goods });
    },
    undo: (again) => undo(run, 'place', again),
  });
}

/** Takes the effect of a step back. Returns false when there was none. */
export async function undo(run: Run, name: UndoableStep, again: boolean): Promise<boolean> {
  const { payments, supplier, warehouse } = partnersOf(run);
  const call = callOf(run, again);
  switch (name) {
    case 'reserve':
      return warehouse.release(call);
    case 'charge':
      // An order that was not priced yet may have been before it was reset.
      if (run.totals && !chargeNeeded(run.totals.payable)) return false;
      return (await payments.refund(call)) !== null;
    case 'place': {
      const { supplierId } = run.input.order;
      return (await supplier.cancel({ ...call, supplierId })) > 0;
    }
    default:
      return name satisfies never;
  }
}

/** From here on there is no way back: an invoice that is out has been read. */
export async function invoiceAndClose(run: Run): Promise<void> {
  // The last look for a cancel, since the scope below hides one that came while the order was placed.
  stopIfCancelled();
  run.cancellable = false;
  const amount = payableOf(run);
  const amountText = formatMoney(amount);
  await CancellationScope.nonCancellable(async () => {
    await step(run, 'invoice', (again) => {
      const to = run.input.order.buyer.email;
      return partnersOf(run).mailer.invoice({ ...callOf(run, again), amount, amountText, to });
    });
    await step(run, 'close', async () => amountText);
  });
}

async function untilDue(run: Run, chargeAt: string | undefined): Promise<void> {
  const wait = chargeAt === undefined ? 0 : Date.parse(chargeAt) - Date.now();
  if (chargeAt === undefined || wait <= 0) return;
  stopIfCancelled();
  move(
    run,
    {
      step: 'charge',
      status: 'waiting',
      waitingFor: { kind: 'date', what: 'the charge is due', since: now(), until: chargeAt },
    },
    { type: 'waiting', step: 'charge', until: chargeAt },
  );
  await sleep(wait);
}

/** Under the policy of the order as it is now. */
function partnersOf({ input }: Run) {
  return activitiesOf(input.policy);
}

function payableOf({ totals }: Run): Money {
  if (!totals) throw new Error('the order has not been priced');
  return totals.payable;
}
