import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { businessKey } from '../../core/identity.ts';
import { orderIdOf } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder } from '../support/orders.ts';
import { assertGolden, pointedAt } from './q2t.ts';

/** A bench with a worker and one without, so that a test can do without a worker beside others that need one. */
let bench: OrderBench;
let idle: OrderBench;

before(async () => {
  bench = await openBench();
  idle = await openBench({ worker: false });
});

after(async () => {
  await bench.close();
  await idle.close();
});

const on = (args: string[], where: OrderBench = bench) => pointedAt(where)(args);

/** Above the limit, so that it waits for somebody. */
const large = (fields: Partial<Order> = {}) => anOrder({ unitPrice: '5000' }, fields);
const keyOf = (order: Order) => businessKey(orderIdOf(order));

async function waiting(order: Order): Promise<void> {
  await bench.pipeline.submit(order);
  await bench.until(orderIdOf(order), ({ waitingFor }) => waitingFor?.kind === 'person');
}

/** The outcome of a run, when it has one. */
async function outcomeOf(order: Order): Promise<string | undefined> {
  const ended = await bench.until(orderIdOf(order), ({ status }) => status === 'ended');
  return ended.outcome;
}

test('where answers while no worker has ever lived', async () => {
  const order = anOrder();
  await idle.pipeline.submit(order);
  const ended = await on(['where', keyOf(order)], idle);
  await assertGolden('where-no-worker', ended, { [order.orderRef]: 'PO-A' });
});

test('where says for whom, since when and until when an order waits, and what answers it', async () => {
  const order = large();
  await waiting(order);
  const ended = await on(['where', order.orderRef]);
  await assertGolden('where-approval', ended, { [order.orderRef]: 'PO-A' });
});

test('the history tells who decided and how it ended', async () => {
  const order = large();
  await waiting(order);
  await on(['decide', keyOf(order), 'reject', '--by', 'Ann', '--note', 'over budget']);
  assert.equal(await outcomeOf(order), 'rejected');
  const ended = await on(['where', keyOf(order), '--history']);
  await assertGolden('where-history', ended, { [order.orderRef]: 'PO-A' });
});

test('an approval is accepted once; a second one is a conflict', async () => {
  const order = large();
  await waiting(order);
  const first = await on(['decide', order.orderRef, 'approve', '--by', 'Ann']);
  assert.equal(first.exitCode, 0);
  assert.match(first.stdout, /approval \(version 1\) of acme\/\S+ approved by Ann/);
  assert.equal(await outcomeOf(order), 'completed');
  const second = await on(['decide', order.orderRef, 'reject', '--by', 'Bob']);
  assert.equal(second.exitCode, 4);
  assert.match(second.stdout, /not answered/);
});

test('an answer to another gate is a conflict, and the order waits on', async () => {
  const order = large();
  await waiting(order);
  const answer = ['decide', keyOf(order), 'approve', '--by', 'Ann'];
  const ended = await on([...answer, '--gate', 'approval', '--gate-version', '2']);
  assert.equal(ended.exitCode, 4);
  assert.match(ended.stdout, /wrong-gate/);
  assert.equal((await bench.position(orderIdOf(order))).waitingFor?.kind, 'person');
});

test('a decision that no worker confirms ends with 5 and says to repeat it', async () => {
  const order = large();
  await idle.pipeline.submit(order);
  const ended = await on(['decide', keyOf(order), 'approve', '--by', 'Ann'], idle);
  assert.equal(ended.exitCode, 5);
  assert.match(ended.stdout, /^not confirmed: /);
  assert.match(ended.stderr, /Repeat the command/);
});

test('an order that nobody has ends with 3', async () => {
  const where = await on(['where', 'PO-nobody']);
  await assertGolden('where-not-found', where);
  const commands = [
    ['decide', 'acme/PO-nobody', 'approve', '--by', 'Ann'],
    ['cancel', 'PO-nobody', '--buyer', 'acme', '--by', 'Ann', '--reason', 'twice'],
    ['dead-letters', 'show', 'acme/PO-nobody'],
  ];
  for (const command of commands) {
    const { exitCode, stderr } = await on(command);
    assert.equal(exitCode, 3, command.join(' '));
    assert.match(stderr, /There is no .*PO-nobody/);
  }
});

test('a reference that two buyers use is answered by naming them', async () => {
  const one = anOrder({ buyerId: 'acme' });
  const other = { ...one, buyer: { ...one.buyer, id: 'b&b' } };
  await bench.pipeline.submit(one);
  await bench.pipeline.submit(other);
  // Lists lag behind; what is tested here is the answer once both are in.
  await bench.until(orderIdOf(one), ({ status }) => status === 'ended');
  await bench.until(orderIdOf(other), ({ status }) => status === 'ended');
  const { exitCode, stderr } = await on(['where', one.orderRef]);
  assert.equal(exitCode, 2);
  assert.match(stderr, /2 buyers have an order/);
  assert.ok(stderr.includes(keyOf(one)) && stderr.includes(keyOf(other)));
  for (const args of [[keyOf(other)], [one.orderRef, '--buyer', 'b&b']]) {
    const named = await on(['where', ...args, '--json']);
    assert.equal(named.exitCode, 0);
    assert.match(named.stdout, /"buyerId": "b&b"/);
  }
});

test('a reference with a slash in it is found as it is', async () => {
  const order = anOrder({}, { orderRef: `2026/${anOrder().orderRef}` });
  await bench.pipeline.submit(order);
  await outcomeOf(order);
  assert.equal((await on(['where', order.orderRef])).exitCode, 0);
});

test('a cancelled order is undone, and a second cancel is a conflict', async () => {
  const order = large();
  await waiting(order);
  const cancel = ['cancel', order.orderRef, '--by', 'Ann', '--reason', 'ordered twice'];
  const first = await on(cancel);
  assert.equal(first.exitCode, 0);
  assert.match(first.stdout, /cancel requested by Ann/);
  assert.equal(await outcomeOf(order), 'cancelled');
  assert.equal((await on(cancel)).exitCode, 4);
});

test('list filters by status and step, and says when there may be more', async () => {
  const order = large();
  await waiting(order);
  const { exitCode, stdout } = await on(['list', '--status', 'waiting', '--step', 'approve']);
  assert.equal(exitCode, 0);
  const row = stdout.split('\n').find((line) => line.startsWith(keyOf(order)));
  assert.match(row ?? '', /waiting +approve +purchasing/);
  assert.doesNotMatch(stdout, /completed/);
  const one = await on(['list', '--limit', '1']);
  assert.equal(one.stdout.split('\n').length, 2);
  assert.match(one.stderr, /The newest 1; there may be more/);
});

test('what a run was told is shown, and does nothing to the terminal', async () => {
  const order = large();
  await waiting(order);
  await bench.pipeline.cancel(orderIdOf(order), 'Mallory', 'gone \u001b[2J\u202e');
  await outcomeOf(order);
  const { stdout } = await on(['where', keyOf(order), '--history']);
  assert.match(stdout, /gone \\u\{1b\}\[2J\\u\{202e\}/);
  assert.ok(!stdout.includes('\u001b') && !stdout.includes('\u202e'));
});
