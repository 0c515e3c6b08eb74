import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { businessKey, orderIdOf, runIdOf } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import { toRunInput } from '../../core/order/run-input.ts';
import { failureInWords, replayGate } from '../../replay/gate/gate.ts';
import { cancelSignal } from '../../workflows/definitions.ts';
import { ORDER_WORKFLOW } from '../../workflows/search-attributes.ts';
import { tasksWithBoth, withFlags } from '../replay/edited.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { workflowBundle } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { cancelSignal as tinyCancel } from './cases/workflows.ts';
import { openWorkshop } from './cases/workshop.ts';
import { splitWorkers, type SplitWorkers } from './split-workers.ts';

const LIMIT_MS = 60_000;
const CANCEL = { by: 'Ada', reason: 'changed our mind' };

let bench: OrderBench;
let workers: SplitWorkers;
before(async () => {
  bench = await openBench({ worker: false });
  workers = await splitWorkers(bench);
});
after(async () => {
  await workers.close();
  await bench.close();
});

const handleOf = (id: OrderId) => bench.client.workflow.getHandle(runIdOf(id));

async function pendingActivities(workflowId: string): Promise<number> {
  const { raw } = await bench.client.workflow.getHandle(workflowId).describe();
  return raw.pendingActivities?.length ?? 0;
}

/** How the order ended, and what its partners still hold. */
async function endOf(order: Order) {
  const { outcome, reason, position } = await bench.result(order);
  const undone = position.history.flatMap((entry) =>
    entry.type === 'undo-done' ? [entry.step] : [],
  );
  const { charge, refund, ...others } = await bench.partners.counts(businessKey(orderIdOf(order)));
  return { outcome, reason, undone, charged: charge - refund, mails: others.mail };
}

suite('B7: a cancel', () => {
  const startOptions = (order: Order) => ({
    workflowId: runIdOf(orderIdOf(order)),
    taskQueue: bench.taskQueue,
    args: [toRunInput(order, { ...quickPolicy, partnerTimeoutMs: 15_000 }, new Date())],
  });

  test('that comes with the start ends an order as one that comes a task later', async () => {
    const [first, later] = [anOrder(), anOrder({ sku: `HELD-${Date.now()}-` })];
    const faultId = await bench.partners.setFault({
      partner: 'supplier',
      operation: 'quote',
      sku: later.lines[0]?.sku ?? '',
      effect: { kind: 'hang-before' },
    });
    await bench.client.workflow.signalWithStart(ORDER_WORKFLOW, {
      ...startOptions(first),
      signal: cancelSignal,
      signalArgs: [CANCEL],
    });
    const laterId = orderIdOf(later);
    await bench.client.workflow.start(ORDER_WORKFLOW, startOptions(later));
    await workers.whileOrdersRun(() => bench.partners.waitUntilHeld({ faultId }, LIMIT_MS));
    await handleOf(laterId).signal(cancelSignal, CANCEL);
    await bench.partners.clearFault(faultId);
    const ends = await workers.whileOrdersRun(() => Promise.all([first, later].map(endOf)));
    const nothing = { undone: [], charged: 0, mails: 0 };
    const cancelled = { outcome: 'cancelled', reason: CANCEL.reason, ...nothing };
    assert.deepEqual(ends, [cancelled, cancelled]);
  });

  test('with the start is lost on code that makes its state after its first wait', async () => {
    const workshop = await openWorkshop();
    try {
      const { client, taskQueue } = workshop;
      const options = { taskQueue, signal: tinyCancel, signalArgs: [] as [] };
      const withStart = await client.workflow.signalWithStart('readyTooLate', {
        ...options,
        workflowId: `${taskQueue}-with-start`,
      });
      const later = client.workflow.getHandle(await workshop.start('readyTooLate'));
      const results = await workshop.working(async () => {
        await until('its answer', () => workshop.asked.length === 2);
        await until('a task after it', async () => {
          const { events } = await later.fetchHistory();
          return events?.some((event) => event.timerStartedEventAttributes);
        });
        await later.signal(tinyCancel);
        return Promise.all([withStart.result(), later.result()]);
      });
      assert.deepEqual(results, ['completed', 'cancelled']);
    } finally {
      await workshop.close();
    }
  });
});

suite('B8: a cancel and the answer of the charge in one task', () => {
  for (const first of ['cancel', 'answer'] as const) {
    test(`end in a refund, when the ${first} was first`, async () => {
      const order = anOrder();
      const id = orderIdOf(order);
      const faultId = await bench.partners.setFault({
        partner: 'payments',
        operation: 'charge',
        reference: businessKey(id),
        times: 1,
        effect: { kind: 'hang-after' },
      });
      await bench.pipeline.submit(order, { ...quickPolicy, partnerTimeoutMs: 15_000 });
      await workers.whileOrdersRun(() => bench.partners.waitUntilHeld({ faultId }, LIMIT_MS));
      const cancel = () => bench.pipeline.cancel(id, CANCEL.by, CANCEL.reason);
      const answer = async () => {
        await bench.partners.clearFault(faultId);
        await until('the answer', async () => (await pendingActivities(runIdOf(id))) === 0);
      };
      for (const happens of first === 'cancel' ? [cancel, answer] : [answer, cancel]) {
        await happens();
      }
      const end = await workers.whileOrdersRun(() => endOf(order));
      assert.equal(end.outcome, 'cancelled');
      assert.deepEqual(end.undone, ['charge', 'reserve']);
      assert.equal(end.charged, 0);

      const history = await handleOf(id).fetchHistory();
      const known = { name: first, workflowId: runIdOf(id), history };
      assert.equal(tasksWithBoth(known), 1);
      const { failures } = await replayGate(await workflowBundle(), [known, withFlags(known, [])]);
      assert.deepEqual(failures.map(failureInWords), []);
    });
  }
});
