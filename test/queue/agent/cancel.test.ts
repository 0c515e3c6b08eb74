import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { orderIdOfRequest } from '../../../core/agent/identity.ts';
import { businessKey } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { storyOf } from '../support/bench.ts';
import { CHAIRS, openAgentBench } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';

const LIMIT = 30_000;

describe('a cancel of the agent on the queue', () => {
  let bench: AgentBench;
  before(async () => {
    bench = await openAgentBench();
  });
  after(() => bench.close());
  afterEach(() => bench.orders.partners.clearFault());

  const cancel = (id: OrderId) => bench.agent.cancel(id, 'Ann', 'enough');

  async function assertCancelled(id: OrderId): Promise<void> {
    const { outcome, reason, history, question } = await bench.ended(id);
    assert.deepEqual([outcome, reason, question], ['cancelled', 'enough', undefined]);
    const requests = history.filter(({ type }) => type === 'cancel-requested');
    assert.equal(requests.length, 1);
    const again = await cancel(id);
    assert.equal(again.kind === 'conflict' && again.conflict, 'ended');
    const order = await bench.orders.pipeline.where(orderIdOfRequest(id));
    assert.equal(order.kind, 'not-found');
  }

  test('while the model answers: what was asked is paid and written down, and nothing follows', async () => {
    const faultId = await bench.orders.partners.setFault({
      partner: 'model',
      effect: { kind: 'hang-after' },
    });
    const id = await bench.asked();
    await bench.orders.partners.waitUntilHeld({ faultId }, LIMIT);
    assert.deepEqual(await cancel(id), { kind: 'requested' });
    assert.deepEqual(await cancel(id), { kind: 'requested' });
    await bench.orders.partners.clearFault();
    await assertCancelled(id);
    const { spent } = await bench.position(id);
    assert.deepEqual([spent.calls, await bench.completions(id)], [1, 1]);
  });

  test('while a tool is used: nobody waits for it', async () => {
    const faultId = await bench.orders.partners.setFault({
      partner: 'supplier',
      operation: 'search',
      effect: { kind: 'hang-before' },
    });
    const id = await bench.asked();
    await bench.orders.partners.waitUntilHeld({ faultId }, LIMIT);
    await cancel(id);
    await assertCancelled(id);
  });

  test('while it waits for a person: the question is withdrawn', async () => {
    const id = await bench.asked(`${CHAIRS}, ask me first`);
    await bench.until(id, ({ status }) => status === 'waiting');
    await cancel(id);
    await assertCancelled(id);
    const { rows } = await bench.orders.pool.query(
      `SELECT state FROM queue.gate WHERE run_id = 'agent/' || $1`,
      [businessKey(id)],
    );
    assert.deepEqual(rows, [{ state: 'withdrawn' }]);
  });

  test('while it is to be tried again, and while it is stuck', async () => {
    await bench.orders.partners.setFault({
      partner: 'model',
      effect: { kind: 'status', status: 429, retryAfter: 3_600 },
    });
    const retrying = await bench.asked();
    await bench.until(retrying, ({ status }) => status === 'retrying');
    await cancel(retrying);
    await assertCancelled(retrying);
    await bench.orders.partners.clearFault();
    await bench.orders.pool.query('DELETE FROM queue.partner_limit');
    await bench.orders.partners.setFault({
      partner: 'model',
      effect: { kind: 'status', status: 400 },
    });
    const stuck = await bench.asked();
    await bench.until(stuck, ({ status }) => status === 'stuck');
    await cancel(stuck);
    await assertCancelled(stuck);
    const listed = await bench.agent.deadLetters.list();
    assert.deepEqual(listed, { kind: 'dead-letters', deadLetters: [] });
  });

  test('while its order is under way: that is cancelled first, and the run ends as it did', async () => {
    const faultId = await bench.orders.partners.setFault({
      partner: 'payments',
      operation: 'charge',
      effect: { kind: 'hang-after' },
    });
    const id = await bench.asked();
    await bench.orders.partners.waitUntilHeld({ faultId }, LIMIT);
    await bench.until(id, ({ order }) => order?.started === true);
    assert.deepEqual(await cancel(id), { kind: 'requested' });
    const orderId = orderIdOfRequest(id);
    await bench.orders.until(orderId, ({ history }) =>
      history.some(({ type }) => type === 'cancel-requested'),
    );
    await bench.orders.partners.clearFault();
    const ended = await bench.ended(id);
    assert.equal(ended.outcome, 'cancelled');
    assert.equal(ended.reason, `order ${orderId.orderRef}: enough`);
    assert.ok(storyOf(ended).includes('order-ended cancelled'));
    const { charge, refund } = await bench.orders.partners.counts(businessKey(orderId));
    assert.equal(charge, refund);
    assert.equal((await bench.orders.position(orderId)).outcome, 'cancelled');
  });

  test('too late for its order: the order says so, once, and both are completed', async () => {
    const faultId = await bench.orders.partners.setFault({
      partner: 'mailer',
      effect: { kind: 'hang-before' },
    });
    const id = await bench.asked();
    await bench.orders.partners.waitUntilHeld({ faultId }, LIMIT);
    await cancel(id);
    const orderId = orderIdOfRequest(id);
    const late = ({ history }: { history: { type: string }[] }) =>
      history.filter(({ type }) => type === 'cancel-too-late').length;
    await bench.orders.until(orderId, (position) => late(position) > 0);
    await bench.orders.partners.clearFault();
    assert.equal((await bench.ended(id)).outcome, 'completed');
    assert.equal(late(await bench.orders.position(orderId)), 1);
  });

  test('of nobody', async () => {
    assert.deepEqual(await cancel({ buyerId: 'acme', orderRef: 'none' }), { kind: 'not-found' });
  });
});
