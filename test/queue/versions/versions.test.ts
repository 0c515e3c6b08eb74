import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { businessKey } from '../../../core/identity.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import type { VersionInfo } from '../../../core/versions.ts';
import { pipelinesFor } from '../../../queue/steps/pipelines.ts';
import { bucketOf } from '../../../queue/versions/rollout.ts';
import type { RunningWorker } from '../../../queue/worker/start.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { until } from '../../support/until.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';

const RETRY_AFTER_S = 3_600;

let bench: QueueBench;
/** Has both versions. */
let both: RunningWorker;
before(async () => {
  bench = await openBench({ workers: 0 });
});
after(() => bench.close());

test('nothing can be made current that no worker has', async () => {
  const { versions } = bench.pipeline;
  const nobody = await versions.setCurrent('1', 'Ann');
  assert.equal(nobody.kind, 'conflict');
  assert.match(nobody.reason, /no worker that runs has version 1/);
  assert.equal((await versions.ramp('3', 10, 'Ann')).kind, 'conflict');
  both = await bench.startWorker();
  await until('the worker to say what it has', async () => (await infoOf('1')).workers.length > 0);
});

test('a rollout and its rollback are a command, and no deploy: a run keeps the version it began with', async () => {
  const { versions } = bench.pipeline;
  assert.deepEqual(standing(await infoOf('2')), ['current', 100]);
  assert.deepEqual(standing(await infoOf('1')), ['drained', 0]);
  assert.deepEqual((await infoOf('1')).maySwitchOff, { may: true, why: 'no open run needs it' });

  assert.deepEqual(await versions.setCurrent('1', 'Ann'), { kind: 'changed', current: '1' });
  const old = await submitted(large());
  const ramped = await versions.ramp('2', 100, 'Bob');
  const ramping = { version: '2', percent: 100 };
  assert.deepEqual(ramped, { kind: 'changed', current: '1', ramping });
  const onRamp = await submitted(large());
  assert.deepEqual(await versions.ramp('2', 0, 'Bob'), { kind: 'changed', current: '1' });
  const offRamp = await submitted(large());
  const onVersions = await Promise.all([old, onRamp, offRamp].map(versionOf));
  assert.deepEqual(onVersions, ['1', '2', '1']);

  // What ramped becomes current, and its ramp is over.
  await versions.ramp('2', 50, 'Bob');
  assert.deepEqual(standing(await infoOf('1')), ['current', 50]);
  assert.deepEqual(standing(await infoOf('2')), ['ramping', 50]);
  assert.deepEqual(await versions.setCurrent('2', 'Cai'), { kind: 'changed', current: '2' });
  const one = await infoOf('1');
  assert.deepEqual(standing(one), ['draining', 0]);
  const why = 'only it can go on with 2 open runs';
  assert.deepEqual(one.maySwitchOff, { may: false, why });
  assert.deepEqual([one.openRuns, one.boundRuns], [2, 2]);
  const listed = await versions.list();
  assert.equal(listed.kind === 'versions' && listed.changed?.by, 'Cai');
  const again = await versions.ramp('2', 10, 'Cai');
  assert.deepEqual(again, { kind: 'conflict', reason: '2 is current already' });

  for (const order of [old, onRamp, offRamp]) await approved(order);
  assert.deepEqual(standing(await infoOf('1')), ['drained', 0]);
});

test('a part of the orders begins on the ramping version, and an order always on the same', async () => {
  const { versions } = bench.pipeline;
  await versions.ramp('1', 50, 'Ann');
  const orders = Array.from({ length: 12 }, () => anOrder());
  await Promise.all(orders.map(submitted));
  for (const order of orders) {
    const expected = bucketOf(businessKey(orderIdOf(order))) < 50 ? '1' : '2';
    assert.equal(await versionOf(order), expected);
  }
  const buckets = Array.from({ length: 1_000 }, (_, n) => bucketOf(`acme/${n}`));
  const below = buckets.filter((bucket) => bucket < 30).length;
  assert.ok(below > 200 && below < 400, `${below} of 1000 are below 30`);
  assert.ok(buckets.every((bucket) => bucket >= 0 && bucket < 100));
  await versions.ramp('1', 0, 'Ann');
});

test('a run is moved before the step that the versions differ in, and does each step once', async () => {
  const { versions } = bench.pipeline;
  await versions.setCurrent('1', 'Ann');
  const order = await retryingAtCredit();
  const { token } = await rowOf(order);
  assert.deepEqual(await versions.move(orderIdOf(order), '2', 'Ann'), {
    kind: 'moved',
    from: '1',
    to: '2',
  });
  // A worker that was taken for lost still walks in the old order: its token is an old one now.
  assert.equal(BigInt((await rowOf(order)).token), BigInt(token) + 1n);
  await bench.shift(orderIdOf(order), RETRY_AFTER_S * 1_000);
  const ended = await bench.ended(orderIdOf(order));
  assert.equal(ended.outcome, 'completed');
  const { enquiry, screening, reservation, charge, order: placed, mail } = await countsOf(order);
  assert.deepEqual([enquiry, screening, reservation, charge, placed, mail], [1, 1, 1, 1, 1, 1]);
  const { rows } = await bench.pool.query(
    `SELECT by, from_version, version FROM queue.version_change WHERE run_id = $1`,
    [businessKey(orderIdOf(order))],
  );
  assert.deepEqual(rows, [{ by: 'Ann', from_version: '1', version: '2' }]);
});

test('a run is not moved where it would skip a step or do one twice, nor while a worker has it', async () => {
  const { versions } = bench.pipeline;
  const move = (order: Order, to: string) => versions.move(orderIdOf(order), to, 'Ann');
  await versions.setCurrent('1', 'Ann');
  const old = await waiting();
  await versions.setCurrent('2', 'Ann');
  const recent = await waiting();
  const held = anOrder();
  const faultId = await bench.partners.setFault({
    partner: 'bureau',
    reference: businessKey(orderIdOf(held)),
    effect: { kind: 'hang-before' },
  });
  await submitted(held);
  await bench.partners.waitUntilHeld({ faultId }, 60_000);
  const refusals = [
    [await move(old, '2'), 'conflict', /screen and reserve before approve/],
    [await move(recent, '1'), 'conflict', /would do reserve again/],
    [await move(recent, '2'), 'conflict', /on version 2 already/],
    [await move(held, '1'), 'conflict', /a worker is at it now/],
    [await move(recent, '7'), 'not-found', /no version 7 in this code; there are 1, 2/],
    [await move(anOrder(), '1'), 'not-found', /no such order/],
    [await move(recent, 'auto-upgrade'), 'cannot', /only when somebody moves it/],
  ] as const;
  for (const [result, kind, reason] of refusals) {
    assert.equal(result.kind, kind);
    assert.match('reason' in result ? result.reason : '', reason);
  }
  await bench.partners.clearFault(faultId);
  await approved(old);
  await approved(recent);
  assert.equal((await bench.ended(orderIdOf(held))).outcome, 'completed');
  const late = await move(held, '1');
  assert.deepEqual(late, { kind: 'conflict', reason: 'the run has ended' });
});

test('a run whose version nobody serves any more is stuck, and a move is a way back', async () => {
  const { versions } = bench.pipeline;
  await versions.setCurrent('1', 'Ann');
  const order = await retryingAtCredit();
  await versions.setCurrent('2', 'Ann');
  await both.stop();
  await bench.startWorker({ pipelines: pipelinesFor(['2']) });
  await bench.shift(orderIdOf(order), RETRY_AFTER_S * 1_000);
  const stuck = await bench.until(orderIdOf(order), ({ status }) => status === 'stuck');
  assert.match(stuck.stalled?.reason ?? '', /no worker that runs has version 1/);
  const one = await infoOf('1');
  assert.deepEqual(one.workers, []);
  assert.equal(one.maySwitchOff.may, false);
  const refused = await versions.setCurrent('1', 'Ann');
  assert.equal(refused.kind, 'conflict');
  assert.equal((await versions.move(orderIdOf(order), '2', 'Ann')).kind, 'moved');
  assert.equal((await bench.ended(orderIdOf(order))).outcome, 'completed');
  const { enquiry, screening, charge, order: placed } = await countsOf(order);
  assert.deepEqual([enquiry, screening, charge, placed], [1, 1, 1, 1]);
});

const large = () => anOrder({ unitPrice: '5000' });

async function submitted(order: Order): Promise<Order> {
  assert.equal((await bench.pipeline.submit(order, quickPolicy)).kind, 'started');
  return order;
}

async function waiting(): Promise<Order> {
  const order = await submitted(large());
  await bench.until(orderIdOf(order), ({ waitingFor }) => waitingFor?.kind === 'person');
  return order;
}

/** An order that nobody holds and that stands at the step before the two versions part. */
async function retryingAtCredit(): Promise<Order> {
  const order = anOrder();
  await bench.partners.setFault({
    partner: 'bureau',
    reference: businessKey(orderIdOf(order)),
    times: 1,
    effect: { kind: 'status', status: 503, retryAfter: RETRY_AFTER_S },
  });
  await submitted(order);
  await bench.until(orderIdOf(order), ({ status }) => status === 'retrying');
  return order;
}

async function approved(order: Order): Promise<void> {
  const id = orderIdOf(order);
  await bench.until(id, ({ waitingFor }) => waitingFor?.kind === 'person');
  const answer = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'Ann' } as const;
  assert.deepEqual(await bench.pipeline.decide(id, answer), { kind: 'accepted' });
  assert.equal((await bench.ended(id)).outcome, 'completed');
}

async function versionOf(order: Order): Promise<string> {
  return (await bench.position(orderIdOf(order))).version;
}

async function infoOf(version: string): Promise<VersionInfo> {
  const result = await bench.pipeline.versions.list();
  assert.equal(result.kind, 'versions');
  const found = result.versions.find((each) => each.version === version);
  assert.ok(found, `version ${version} is listed`);
  return found;
}

const standing = ({ state, percent }: VersionInfo) => [state, percent];

function countsOf(order: Order) {
  return bench.partners.counts(businessKey(orderIdOf(order)));
}

async function rowOf(order: Order): Promise<{ token: string }> {
  const { rows } = await bench.pool.query<{ token: string }>(
    'SELECT token FROM queue.run WHERE id = $1',
    [businessKey(orderIdOf(order))],
  );
  const [row] = rows;
  assert.ok(row);
  return row;
}
