import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { FaultSpec } from '../../../partners/control.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench, storyOf } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { until } from '../../support/until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';

const LIMIT = 30_000;
const policy = { ...quickPolicy, heartbeatMs: 1_000, settleMs: 300, maxLostWorkers: 2 };

describe('worker processes of the queue', () => {
  let bench: QueueBench;
  const alive = new Set<WorkerProcess>();
  before(async () => {
    bench = await openBench({ workers: 0 });
  });
  after(() => bench.close());
  afterEach(async () => {
    await bench.partners.clearFault();
    for (const worker of alive) {
      worker.signal('SIGKILL');
      await worker.exited;
    }
    alive.clear();
  });

  async function startWorker(env: Record<string, string> = {}): Promise<WorkerProcess> {
    const worker = await startWorkerProcess(bench, env);
    alive.add(worker);
    return worker;
  }
  async function kill(worker: WorkerProcess): Promise<void> {
    worker.signal('SIGKILL');
    await worker.exited;
    alive.delete(worker);
  }
  const refOf = (order: Order) => `${order.buyer.id}/${order.orderRef}`;
  const submit = (order: Order) => bench.pipeline.submit(order, policy);
  async function assertOnce(order: Order): Promise<void> {
    const position = await bench.ended(orderIdOf(order));
    assert.equal(position.outcome, 'completed');
    const counts = await bench.partners.counts(refOf(order));
    const { charge, enquiry, reservation, order: placed, mail } = counts;
    assert.deepEqual([charge, enquiry, reservation, placed, mail], [1, 1, 1, 1, 1]);
  }

  const boundaries = [
    ['bureau', 'enquire'],
    ['warehouse', 'reserve'],
    ['payments', 'charge'],
    ['supplier', 'place'],
    ['mailer', 'send'],
  ] as const;
  for (const kind of ['hang-before', 'hang-after'] as const) {
    const when = kind === 'hang-before' ? 'before' : 'after';
    test(`a kill while the partners hold requests, ${when} they act, repeats no effect at any of them`, async () => {
      const worker = await startWorker({ Q2T_ORDERS: '8' });
      const orders = boundaries.map(() => anOrder());
      for (const [n, [partner, operation]] of boundaries.entries()) {
        const order = orders[n];
        assert.ok(order);
        const spec = { partner, operation, times: 1, effect: { kind } } as FaultSpec;
        await bench.partners.setFault({ ...spec, reference: refOf(order) });
        await submit(order);
      }
      for (const order of orders) {
        await bench.partners.waitUntilHeld({ reference: refOf(order) }, LIMIT);
      }
      await kill(worker);
      await bench.partners.release();
      await startWorker();
      for (const order of orders) await assertOnce(order);
    });
  }

  test('A6, A7: an order that kills its worker every time ends in front of an operator, and ten good ones finish', async () => {
    const poison = anOrder();
    await bench.partners.setFault({
      partner: 'warehouse',
      reference: refOf(poison),
      effect: { kind: 'hang-before' },
    });
    await submit(poison);
    const good = Array.from({ length: 10 }, () => anOrder());
    for (const order of good) await submit(order);
    for (let deaths = 0; deaths < 3; deaths += 1) {
      const worker = await startWorker();
      const held = await bench.partners.waitUntilHeld(
        { reference: refOf(poison), callerGone: false },
        LIMIT,
      );
      await kill(worker);
      await bench.partners.release(held.faultId);
    }
    await startWorker();
    for (const order of good) await assertOnce(order);
    const stuck = await bench.until(orderIdOf(poison), ({ status }) => status === 'stuck');
    assert.equal(
      stuck.waitingFor?.kind === 'operator' && stuck.waitingFor.reason,
      '3 workers were lost in this step',
    );
    const letters = await bench.pipeline.deadLetters.list();
    assert.ok(letters.kind === 'dead-letters');
    const letter = letters.deadLetters.find(({ id }) => id.orderRef === poison.orderRef);
    assert.deepEqual(
      letter?.attempts.map(({ failureClass }) => failureClass),
      ['lost-worker', 'lost-worker', 'lost-worker'],
    );
    assert.equal((await bench.partners.counts(refOf(poison))).reservation, 1);
    await bench.partners.clearFault();
    await bench.pipeline.deadLetters.replay(orderIdOf(poison), { by: 'ops', why: 'fixed' });
    await assertOnce(poison);
  });

  for (const [partner, operation] of [
    ['supplier', 'place'],
    ['payments', 'charge'],
  ] as const) {
    test(`A1, A3: a worker that is frozen while ${partner} answers and thaws after another finished is refused`, async () => {
      const order = anOrder();
      await bench.partners.setFault({
        partner,
        operation,
        reference: refOf(order),
        times: 1,
        effect: { kind: 'hang-after' },
      });
      const frozen = await startWorker();
      // Longer than the frost, so that the answer is still waited for after it.
      await bench.pipeline.submit(order, { ...policy, partnerTimeoutMs: 60_000 });
      await bench.partners.waitUntilHeld({ reference: refOf(order) }, LIMIT);
      frozen.signal('SIGSTOP');
      await startWorker();
      await assertOnce(order);
      const before = await bench.position(orderIdOf(order));
      await bench.partners.release();
      frozen.signal('SIGCONT');
      await until('the thawed worker is refused', () =>
        frozen.log.some(({ msg }) => msg === 'another worker has the run'),
      );
      assert.deepEqual(await bench.position(orderIdOf(order)), before);
      const { rows } = await bench.pool.query(
        `SELECT l.state, l.outcome = e.outcome AS same FROM queue.evidence e
         JOIN queue.ledger l USING (effect_key) WHERE e.run_id = $1`,
        [refOf(order)],
      );
      assert.deepEqual(rows, [{ state: 'done', same: true }]);
    });
  }

  test('A25: in a burst, one worker is told to stop and another is killed; every order is carried out once', async () => {
    const first = await startWorker();
    const second = await startWorker();
    await startWorker();
    const orders = Array.from({ length: 24 }, () => anOrder());
    await Promise.all(orders.map(submit));
    const done = async () => {
      const listed = await bench.pipeline.list({ status: 'ended', limit: 1_000 });
      const refs = new Set(orders.map(({ orderRef }) => orderRef));
      return listed.kind === 'runs'
        ? listed.runs.filter(({ id }) => refs.has(id.orderRef)).length
        : 0;
    };
    await until('some orders are done', async () => (await done()) >= 4);
    first.signal('SIGTERM');
    await kill(second);
    assert.equal(await first.exited, 0);
    alive.delete(first);
    for (const order of orders) await assertOnce(order);
    const { rows } = await bench.pool.query(
      `SELECT count(*)::int AS left FROM queue.message WHERE body->>'runId' IS NOT NULL
       AND visible_at > statement_timestamp() + interval '1 hour'`,
    );
    assert.deepEqual(rows, [{ left: 0 }]);
  });

  test('an approval that was asked for by a worker that is gone is answered without one', async () => {
    const order = anOrder({ unitPrice: '2000.00' });
    const id = orderIdOf(order);
    const worker = await startWorker();
    await submit(order);
    await bench.until(id, ({ status }) => status === 'waiting');
    await kill(worker);
    const answer = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'ada' } as const;
    assert.deepEqual(await bench.pipeline.decide(id, answer), { kind: 'accepted' });
    await startWorker();
    await assertOnce(order);
    assert.equal(storyOf(await bench.position(id)).filter((line) => line === 'decided').length, 1);
  });
});
