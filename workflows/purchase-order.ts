import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  sleep,
} from '@temporalio/workflow';
import { chargeNeeded, creditVerdict } from '../core/decisions.ts';
import { StepFailure } from '../core/failures.ts';
import { orderIdOf } from '../core/identity.ts';
import { formatMoney } from '../core/order/money.ts';
import type { RunInput } from '../core/order/run-input.ts';
import { activitiesOf, callOf, checksOf } from './activities.ts';
import { approve } from './approve.ts';
import { compensate } from './compensation.ts';
import { initialPosition } from './initial-position.ts';
import { listen } from './messages.ts';
import { end, move, now } from './position.ts';
import { price } from './price.ts';
import { Stopped } from './run.ts';
import type { Run, RunResult, Stop } from './run.ts';
import { effectStep, step, stopIfCancelled } from './step.ts';

/** One purchase order, from its nine steps to its end. Returns every business outcome; throws only for an input that is none. */
export async function purchaseOrder(input: RunInput): Promise<RunResult> {
  const run = begin(input);
  const steps = new CancellationScope();
  listen(run, steps);
  const result = await carryOut(run, steps);
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  if (run.cancel?.native && result.outcome === 'cancelled') {
    throw new CancelledFailure(run.cancel.reason);
  }
  return result;
}

/** Takes the steps, and whatever becomes of them to its end. A fixed order takes them anew. */
async function carryOut(run: Run, steps: CancellationScope): Promise<RunResult> {
  for (;;) {
    const stop = await untilStopped(run, steps);
    if (stop.kind === 'end') {
      run.cancellable = false;
      if (stop.outcome !== 'completed') await compensate(run);
      return finish(run, stop);
    }
    const undone = await compensate(run);
    if (!undone) {
      // The new revision would do again what the old one did and nobody took back.
      return finish(run, { outcome: 'discarded', reason: 'the old revision could not be undone' });
    }
    beginAnew(run, stop.input);
  }
}

async function untilStopped(run: Run, steps: CancellationScope): Promise<Stop> {
  try {
    await steps.run(() => takeSteps(run));
    return { kind: 'end', outcome: 'completed' };
  } catch (error) {
    if (error instanceof Stopped) return error.stop;
    if (!isCancellation(error) || !run.cancel) throw error;
    return { kind: 'end', outcome: 'cancelled', reason: run.cancel.reason };
  }
}

async function takeSteps(run: Run): Promise<void> {
  const { order, policy, chargeAt } = run.input;
  const { supplierId, lines } = order;
  const { payments, bureau, warehouse, supplier, mailer } = activitiesOf(policy);

  await step(run, 'validate', async () => {
    const faults = await checksOf().validate(run.input);
    if (faults.length > 0) throw new StepFailure('refused', 'invalid', faults.join('; '));
    return undefined;
  });

  await step(run, 'price', () => price(run));
  const amount = payableOf(run);
  const amountText = formatMoney(amount);

  await step(run, 'credit', async (again) => {
    // An enquiry costs money, and the bureau takes no question about nothing.
    if (!chargeNeeded(amount)) return 'nothing to lend';
    const score = await bureau.credit({ ...callOf(run, again), amount });
    const verdict = creditVerdict(score, policy);
    if (verdict.kind === 'refused') throw new StepFailure('refused', 'credit', verdict.reason);
    return `score ${score}`;
  });

  await step(run, 'approve', () => approve(run, amount));

  await effectStep(run, 'reserve', {
    work: (again) => {
      const goods = lines.map(({ sku, quantity }) => ({ sku, quantity }));
      return warehouse.reserve({ ...callOf(run, again), lines: goods });
    },
    undo: (again) => warehouse.release(callOf(run, again)),
  });

  await untilDue(run, chargeAt);
  await effectStep(run, 'charge', {
    work: async (again) => {
      if (!chargeNeeded(amount)) return 'nothing to charge';
      const summary = amountText;
      const input = { ...callOf(run, again), amount };
      return payments.charge.executeWithOptions({ summary }, [input]);
    },
    undo: async (again) =>
      chargeNeeded(amount) && (await payments.refund(callOf(run, again))) !== null,
  });

  await effectStep(run, 'place', {
    work: (again) => {
      const goods = lines.map(({ sku, quantity, unit }) => ({ sku, quantity, unit }));
      return supplier.place({ ...callOf(run, again), supplierId, lines: goods });
    },
    undo: async (again) => (await supplier.cancel({ ...callOf(run, again), supplierId })) > 0,
  });

  // From here on there is no way back: an invoice that is out has been read. The last look for a
  // cancel, since the scope below hides one that came while the order was being placed.
  stopIfCancelled();
  run.cancellable = false;
  await CancellationScope.nonCancellable(async () => {
    await step(run, 'invoice', (again) => {
      const to = order.buyer.email;
      return mailer.invoice({ ...callOf(run, again), amount, amountText, to });
    });
    await step(run, 'close', async () => amountText);
  });
}

/** Waits for the date on which the charge is due, weeks ahead perhaps: a timer of the engine, which a cancel ends. */
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

function begin(input: RunInput): Run {
  // An input that is no order at all: failing the run beats a workflow task that is retried for ever.
  if (!isRunInput(input)) {
    throw ApplicationFailure.nonRetryable('the input is no order with a policy', 'bad-input');
  }
  return {
    id: orderIdOf(input.order),
    input,
    position: initialPosition(input, now()),
    prices: new Map(),
    gates: [],
    undos: [],
    cancellable: true,
    failures: [],
  };
}

/** The shape only, so that a rule that a later version changes never bears on a run that is replayed. */
function isRunInput(input: Partial<RunInput> | undefined): input is RunInput {
  const { order, policy } = input ?? {};
  if (typeof order?.buyer?.id !== 'string' || typeof order.orderRef !== 'string') return false;
  if (!Array.isArray(order.lines) || typeof policy !== 'object') return false;
  const numbers = [policy.fanOut, policy.maxAttempts, policy.attemptTimeoutMs, policy.heartbeatMs];
  return numbers.every((number) => typeof number === 'number' && number > 0);
}

function beginAnew(run: Run, input: RunInput): void {
  run.input = input;
  run.position = { ...run.position, revision: input.revision };
  run.prices = new Map();
  delete run.totals;
}

function finish(run: Run, { outcome, reason }: Omit<Stop & { kind: 'end' }, 'kind'>): RunResult {
  end(run, outcome, reason);
  return {
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(run.totals === undefined ? {} : { totals: run.totals }),
    position: run.position,
  };
}

function payableOf({ totals }: Run) {
  if (!totals) throw new Error('the order has not been priced');
  return totals.payable;
}
