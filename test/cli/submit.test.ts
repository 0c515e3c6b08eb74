import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { businessKey } from '../../core/identity.ts';
import { orderIdOf } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder } from '../support/orders.ts';
import { assertGolden, pointedAt, q2t } from './q2t.ts';

let bench: OrderBench;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q2t-submit-'));
  bench = await openBench();
});

after(async () => {
  await bench.close();
  await rm(folder, { recursive: true, force: true });
});

const on = (args: string[]) => pointedAt(bench)(args);

async function fileOf(...orders: Order[]): Promise<string> {
  const file = join(folder, `${orders[0]?.orderRef}-${orders[0]?.lines[0]?.quantity}.json`);
  await writeFile(file, JSON.stringify(orders.length === 1 ? orders[0] : orders));
  return file;
}

const keyOf = (order: Order) => businessKey(orderIdOf(order));

/** The outcome of a run, when it has one. */
async function outcomeOf(order: Order): Promise<string | undefined> {
  const ended = await bench.until(orderIdOf(order), ({ status }) => status === 'ended');
  return ended.outcome;
}

test('submit says started, already running, and conflict for other content', async () => {
  // Above the limit, so that it still runs when it comes again.
  const order = anOrder({ unitPrice: '5000' });
  const file = await fileOf(order);
  const first = await on(['submit', file]);
  await assertGolden('submit-started', first, { [order.orderRef]: 'PO-A' });
  const second = await on(['submit', file]);
  assert.equal(second.exitCode, 0);
  assert.match(second.stdout, /already running/);
  const [line] = order.lines;
  assert.ok(line);
  const changed = { ...order, lines: [{ ...line, quantity: '11' }] };
  const third = await on(['submit', await fileOf(changed)]);
  assert.equal(third.exitCode, 4);
  assert.match(third.stdout, /conflict: this reference is taken by an order with other content/);
});

test('submit says already finished, with the outcome', async () => {
  const order = anOrder();
  await bench.pipeline.submit(order);
  assert.equal(await outcomeOf(order), 'completed');
  const { exitCode, stdout } = await on(['submit', await fileOf(order)]);
  assert.equal(exitCode, 0);
  assert.match(stdout, /already finished, completed/);
});

test('of several files every order gets its line, and the code is that of the worst', async () => {
  const taken = anOrder();
  await bench.pipeline.submit({ ...taken, tax: '1' });
  const [one, two, three] = [anOrder(), anOrder(), anOrder()];
  const files = [await fileOf(one), await fileOf(taken), await fileOf(two, three)];
  const names = {
    [folder]: 'FOLDER',
    [one.orderRef]: 'PO-A',
    [taken.orderRef]: 'PO-TAKEN',
    [two.orderRef]: 'PO-B',
    [three.orderRef]: 'PO-C',
  };
  await assertGolden('submit-several', await on(['submit', ...files]), names);
  assert.equal(await outcomeOf(three), 'completed');
});

test('orders that the server does not take are named one by one, and end with 1', async () => {
  const [one, two] = [anOrder(), anOrder()];
  const env = { TEMPORAL_ADDRESS: bench.address, TEMPORAL_NAMESPACE: 'nowhere' };
  const { exitCode, stdout } = await q2t(['submit', '-'], {
    env,
    input: JSON.stringify([one, two]),
  });
  assert.equal(exitCode, 1);
  for (const order of [one, two]) {
    assert.match(stdout, new RegExp(`^${keyOf(order)} +not submitted: .*nowhere`, 'm'));
  }
});

test('an order on standard input starts', async () => {
  const order = anOrder();
  const { exitCode } = await pointedAt(bench)(['submit', '-'], JSON.stringify(order));
  assert.equal(exitCode, 0);
  assert.equal(await outcomeOf(order), 'completed');
});
