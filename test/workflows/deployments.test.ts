import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { businessKey, orderIdOf, runIdOf } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { VersionInfo } from '../../core/versions.ts';
import type { Deployment } from '../../workers/deployment.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';

/** Two build ids of the same code on a task queue of their own: what is tested is where runs go. */
let bench: OrderBench;
const name = `dep-${randomBytes(4).toString('hex')}`;
const version = (buildId: string) => `${name}:${buildId}`;
const start = (buildId: string, versioning: Deployment['versioning']) => {
  return bench.startWorker({ name, buildId, versioning });
};

before(async () => {
  bench = await openBench({ worker: false });
});
after(() => bench.close());

test('runs go where the rollout says: pinned ones stay, the others follow, and a drained version may go', async () => {
  const { versions } = bench.pipeline;

  // Without a version there is one line, and nothing to change it to.
  const stopUnversioned = await bench.startWorker();
  const [only, ...others] = await listed();
  assert.deepEqual(others, []);
  assert.equal(only?.version, 'unversioned');
  assert.equal(only.state, 'current');
  const early = await waiting();
  const unknown = await versions.setCurrent('1', 'Ann');
  assert.equal(unknown.kind, 'not-found');
  const none = await versions.setCurrent('unversioned', 'Ann');
  assert.equal(none.kind, 'conflict');

  // A first version takes over what had none.
  const stop1 = await start('1', 'pinned');
  assert.equal((await infoOf('1')).state, 'inactive');
  assert.deepEqual(await versions.setCurrent('1', 'Ann'), {
    kind: 'changed',
    current: version('1'),
  });
  const without = await info('unversioned');
  assert.deepEqual(without?.maySwitchOff, {
    may: true,
    why: `${version('1')} goes on with its 1 open run`,
  });
  await stopUnversioned();
  await approve(early);
  assert.equal((await bench.result(early)).outcome, 'completed');
  assert.equal(await versionOf(early), version('1'));

  // Pinned runs stay with it when the next version becomes current.
  const pinned = await waiting();
  const moved = await waiting();
  await Promise.all([start('2', 'auto-upgrade'), start('3', 'auto-upgrade')]);
  await versions.setCurrent(version('2'), 'Ann');
  const draining = await until('the index to know both', async () => {
    const one = await infoOf('1');
    return one.boundRuns === 2 && one;
  });
  assert.equal(draining.state, 'draining');
  assert.equal(draining.percent, 0);
  assert.deepEqual(draining.maySwitchOff, {
    may: false,
    why: 'only it can go on with 2 open runs',
  });
  await approve(pinned);
  assert.equal((await bench.result(pinned)).outcome, 'completed');
  assert.equal(await versionOf(pinned), version('1'));
  // On the partners' queues as well.
  assert.deepEqual(await activityBuilds(pinned), ['1']);

  // One that is moved goes on with the other version, also when its own is gone.
  assert.deepEqual(await versions.move(orderIdOf(moved), '2', 'Bob'), {
    kind: 'moved',
    from: version('1'),
    to: version('2'),
  });
  const drained = await until('the server to see that 1 is drained', async () => {
    const one = await infoOf('1');
    return one.state === 'drained' && one;
  });
  assert.deepEqual(drained.maySwitchOff, { may: true, why: 'no open run needs it' });
  await stop1();
  await approve(moved);
  assert.equal((await bench.result(moved)).outcome, 'completed');
  assert.equal(await versionOf(moved), version('2'));
  assert.deepEqual(await activityBuilds(moved), ['1', '2']);
  assert.equal(await movedBy(moved), 'Bob');

  // A ramp takes all at 100 and none at 0; runs that follow the current version go over and back.
  const ramped = await versions.ramp('3', 100, 'Cai');
  const ramping = { version: version('3'), percent: 100 };
  assert.deepEqual(ramped, { kind: 'changed', current: version('2'), ramping });
  const onRamp = await waiting();
  assert.equal(await versionOf(onRamp), version('3'));
  const ended = await versions.ramp('3', 0, 'Cai');
  assert.deepEqual(ended, { kind: 'changed', current: version('2') });
  const offRamp = await waiting();
  assert.equal(await versionOf(offRamp), version('2'));
  const again = await versions.ramp('3', 0, 'Cai');
  assert.deepEqual(again, { kind: 'conflict', reason: `${version('3')} is not ramping` });
  await versions.setCurrent('3', 'Cai');
  await approve(offRamp);
  assert.equal((await bench.result(offRamp)).outcome, 'completed');
  assert.equal(await versionOf(offRamp), version('3'));

  // The rollback is the same command with the older version.
  await versions.setCurrent('2', 'Dee');
  await approve(onRamp);
  assert.equal((await bench.result(onRamp)).outcome, 'completed');
  assert.equal(await versionOf(onRamp), version('2'));
  const last = await versions.list();
  assert.equal(last.kind === 'versions' && last.changed?.by, 'Dee');

  for (const order of [early, pinned, moved, onRamp, offRamp]) {
    const counts = await bench.partners.counts(businessKey(orderIdOf(order)));
    const { reservation, charge, order: placed, mail } = counts;
    assert.deepEqual([reservation, charge, placed, mail], [1, 1, 1, 1]);
  }
});

test('a part of the runs goes to the ramping version, and a run always to the same', async () => {
  const { versions } = bench.pipeline;
  await versions.ramp('3', 50, 'Cai');
  const orders = Array.from({ length: 4 }, () => anOrder());
  for (const order of orders) await bench.pipeline.submit(order, quickPolicy);
  for (const order of orders) await bench.result(order);
  const seen = await Promise.all(orders.map(usedVersions));
  // By chance all may fall on one side: how many fall where is the server's business.
  for (const used of seen) assert.equal(used.length, 1);
  assert.deepEqual(
    [...new Set(seen.flat())].filter((each) => ![version('2'), version('3')].includes(each)),
    [],
  );
  const three = await infoOf('3');
  assert.equal(three.state, 'ramping');
  assert.deepEqual(three.maySwitchOff, { may: false, why: '50 of 100 new runs begin here' });
  assert.equal((await infoOf('2')).percent, 50);
  await versions.ramp('3', 0, 'Cai');
});

test('what can not be is refused with the reason', async () => {
  const { versions } = bench.pipeline;
  const nobody = { buyerId: 'acme', orderRef: 'PO-nobody' };
  const refusals = [
    [await versions.setCurrent('9', 'Ann'), 'not-found', /no worker of a version 9 .* known: .*:3/],
    [await versions.ramp('2', 10, 'Ann'), 'conflict', /already current/],
    [await versions.move(nobody, '2', 'Ann'), 'not-found', /no such order/],
  ] as const;
  for (const [result, kind, reason] of refusals) {
    assert.equal(result.kind, kind);
    assert.match('reason' in result ? result.reason : '', reason);
  }
  const order = anOrder();
  await bench.pipeline.submit(order, quickPolicy);
  await bench.result(order);
  const ended = await versions.move(orderIdOf(order), '2', 'Ann');
  assert.deepEqual(ended, { kind: 'conflict', reason: 'the run has ended' });
  const open = await waiting();
  const unbound = await versions.move(orderIdOf(open), 'unversioned', 'Ann');
  assert.equal(unbound.kind, 'conflict');
  const followed = await versions.move(orderIdOf(open), 'auto-upgrade', 'Ann');
  assert.deepEqual(followed, { kind: 'moved', from: version('2'), to: 'auto-upgrade' });
  await approve(open);
  assert.equal((await bench.result(open)).outcome, 'completed');
});

async function listed(): Promise<VersionInfo[]> {
  const result = await bench.pipeline.versions.list();
  assert.equal(result.kind, 'versions');
  return result.versions;
}

async function info(full: string): Promise<VersionInfo | undefined> {
  return (await listed()).find((each) => each.version === full);
}

async function infoOf(buildId: string): Promise<VersionInfo> {
  const found = await info(version(buildId));
  assert.ok(found, `version ${buildId} is listed`);
  assert.ok(found.workers.length > 0, `somebody was seen serving version ${buildId}`);
  return found;
}

/** An order that waits for a person: its run stays where it is until somebody answers. */
async function waiting(): Promise<Order> {
  const order = anOrder({ unitPrice: '5000' });
  await bench.pipeline.submit(order, quickPolicy);
  await bench.until(orderIdOf(order), ({ waitingFor }) => waitingFor?.kind === 'person');
  return order;
}

async function approve(order: Order): Promise<void> {
  const answer = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'Ann' } as const;
  assert.deepEqual(await bench.pipeline.decide(orderIdOf(order), answer), { kind: 'accepted' });
}

function describe(order: Order) {
  return bench.client.workflow.getHandle(runIdOf(orderIdOf(order))).describe();
}

async function versionOf(order: Order): Promise<string> {
  const { workflowExecutionInfo } = (await describe(order)).raw;
  const { deploymentName, buildId } =
    workflowExecutionInfo?.versioningInfo?.deploymentVersion ?? {};
  return `${deploymentName}:${buildId}`;
}

/** Every version that a worker of has completed a task of the run. */
async function usedVersions(order: Order): Promise<string[]> {
  const { searchAttributes } = await describe(order);
  return (searchAttributes['TemporalUsedWorkerDeploymentVersions'] ?? []).map(String);
}

async function eventsOf(order: Order) {
  const handle = bench.client.workflow.getHandle(runIdOf(orderIdOf(order)));
  return (await handle.fetchHistory()).events ?? [];
}

/** The build ids of the workers that ran the order's activities, in the order of their first one. */
async function activityBuilds(order: Order): Promise<string[]> {
  const starts = (await eventsOf(order)).flatMap((event) => {
    return event.activityTaskStartedEventAttributes?.workerVersion?.buildId ?? [];
  });
  return [...new Set(starts)];
}

async function movedBy(order: Order): Promise<string | undefined> {
  const moves = (await eventsOf(order)).flatMap((event) => {
    return event.workflowExecutionOptionsUpdatedEventAttributes ?? [];
  });
  return moves.at(-1)?.identity ?? undefined;
}
