import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Stalled } from '../../core/contract.ts';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { copySources } from '../../replay/changes/change.ts';
import { wrongChanges } from '../../replay/changes/wrong.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';
import { startWorkerProcess } from './worker-script.ts';

/** Bundles of wrong code, by what is wrong with it. */
const wrong = { reorders: '', throws: '' };
const policy = { ...quickPolicy, workflowTaskTimeoutMs: 2_000 };
const approval = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'Ada' } as const;
const operator = { by: 'Ops', why: 'bad deploy' };

let dir: string;
let bench: OrderBench;
/** Orders that a worker of the good code has brought to their approval. */
const orders = Array.from({ length: 3 }, () => anOrder({ unitPrice: '2000.00' }));
const [one, two, three] = orders.map(orderIdOf) as [OrderId, OrderId, OrderId];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'q2t-stall-'));
  bench = await openBench({ worker: false, confirmWithinMs: 1_000 });
  const copy = await copySources();
  try {
    wrong.reorders = await bundle('two steps in another order');
    wrong.throws = await bundle('an error thrown');
  } finally {
    await copy.remove();
  }
  async function bundle(name: string): Promise<string> {
    const change = wrongChanges.find((known) => known.name === name);
    assert.ok(change, name);
    const file = join(dir, `${name.replaceAll(' ', '-')}.js`);
    await writeFile(file, (await copy.bundleWith(change)).code);
    return file;
  }
  const stop = await bench.startWorker();
  for (const order of orders) await bench.pipeline.submit(order, policy);
  for (const id of [one, two, three]) await bench.until(id, ({ status }) => status === 'waiting');
  await stop();
});
after(async () => {
  await bench.close();
  await rm(dir, { recursive: true, force: true });
});

/** Does the work while a worker process of that code is the only one. */
async function deployed(code: string, work: () => Promise<void>): Promise<void> {
  const worker = startWorkerProcess(bench, { Q2T_BUNDLE: code });
  try {
    await work();
  } finally {
    worker.kill('SIGKILL');
    await worker;
  }
}

async function stalled(id: OrderId): Promise<Stalled> {
  const position = await bench.until(id, (found) => found.stalled !== undefined);
  assert.equal(position.status, 'stuck');
  // What it waited for is still true when there is code for it again.
  assert.equal(position.waitingFor?.kind, 'person');
  assert.ok(position.stalled);
  return position.stalled;
}

const reset = (id: OrderId, toEvent?: number) =>
  bench.pipeline.reset(id, { ...operator, ...(toEvent !== undefined && { toEvent }) });

test('runs that the code on the workers cannot follow are stuck, say why, and are reset to before it', async () => {
  await deployed(wrong.reorders, async () => {
    assert.equal((await bench.pipeline.decide(one, approval)).kind, 'not-confirmed');
    await bench.pipeline.cancel(two, 'Ada', 'ordered elsewhere');

    const { reason, since, version, eventId, resetTo } = await stalled(one);
    assert.match(
      reason,
      /^version [0-9a-f]{12} \(\d+@.+\) can't go on: at event \d+ the history sets OrderStatus=waiting, OrderStep=approve, .*; the code schedules an activity$/,
    );
    assert.ok(version !== undefined && reason.includes(version) && Date.parse(since) > 0);
    assert.ok(eventId !== undefined && resetTo !== undefined && resetTo < eventId);
    const other = await stalled(two);
    assert.deepEqual([other.version, other.eventId], [version, eventId]);
    await listedAsStuck([one, two]);

    const decided = await bench.pipeline.decide(one, approval);
    assert.ok(decided.kind === 'not-confirmed' && decided.reason.includes(reason), 'decide');
    const cancelled = await bench.pipeline.cancel(two, 'Bob', 'ordered twice');
    assert.deepEqual(cancelled, { kind: 'requested', stalled: other.reason });
    const letters = await bench.pipeline.deadLetters.list();
    const mine = letters.kind === 'dead-letters' ? letters.deadLetters.map(refOf) : [];
    assert.ok(!mine.includes(one.orderRef), 'a replay would not help it: it is no dead letter');
    const replayed = await bench.pipeline.deadLetters.replay(one, operator);
    assert.ok(replayed.kind === 'conflict' && replayed.reason.includes(reason), 'replay');

    assert.deepEqual(await reset(one), {
      kind: 'reset',
      toEvent: resetTo,
      again: [],
      sentAgain: [],
    });
    const on = await bench.until(one, ({ stalled: still, step }) => !still && step === 'approve');
    const types = on.history.map(({ type }) => type);
    assert.deepEqual(types.slice(types.indexOf('reset')), ['reset', ...NEW_WAY]);
    const entry = on.history.find(({ type }) => type === 'reset');
    assert.deepEqual(entry, { at: entry?.at, type: 'reset', toEvent: resetTo, ...operator });

    const again = await reset(two);
    assert.ok(again.kind === 'reset');
    // One that came while a worker held the task is not in the history yet, and not lost either.
    assert.ok(again.sentAgain.includes('cancel by Ada'));
    const ended = await bench.until(two, ({ status }) => status === 'ended');
    assert.equal(ended.outcome, 'cancelled');
    assert.deepEqual(
      ended.history.flatMap((entry) =>
        entry.type.startsWith('cancel') && 'by' in entry ? entry.by : [],
      ),
      ['Ada', 'Bob'],
    );
    for (const id of [one, two]) {
      assert.equal((await bench.partners.counts(businessKey(id))).enquiry, 1);
    }
  });
});

/** What the reordering code does from the credit on. */
const NEW_WAY = ['step-done', 'step-done', 'waiting'];

test('a reset is refused where it would not help, with what does', async () => {
  assert.deepEqual(await reset({ buyerId: 'nobody', orderRef: 'none' }), { kind: 'not-found' });
  const idle = await reset(three);
  assert.ok(idle.kind === 'conflict' && idle.reason.startsWith('nothing stops the run'));
  await deployed(wrong.throws, async () => {
    await bench.pipeline.decide(three, approval);
    const { reason, resetTo } = await stalled(three);
    assert.match(reason, /its code throws: not like this \(workflows\/[\w-]+\.ts:\d+\)$/);
    assert.equal(resetTo, undefined);
    const thrown = await reset(three);
    assert.ok(thrown.kind === 'conflict' && /would come to the same place/.test(thrown.reason));
    const beyond = await reset(three, 10_000);
    assert.ok(beyond.kind === 'conflict' && /the history ends with event \d+/.test(beyond.reason));
    const tooEarly = await reset(three, 2);
    assert.ok(tooEarly.kind === 'conflict' && /had not begun at event 2/.test(tooEarly.reason));
  });

  const stop = await bench.startWorker();
  await bench.until(three, ({ stalled: still }) => !still);
  await bench.pipeline.cancel(three, 'Ada', 'over');
  await bench.until(three, ({ status }) => status === 'ended');
  assert.deepEqual(await reset(three, 4), { kind: 'conflict', reason: 'the run has ended' });
  await stop();
});

/** The server writes it down with the second failure, and lists lag behind. */
async function listedAsStuck(ids: readonly OrderId[]): Promise<void> {
  for (const { orderRef } of ids) {
    await until(`${orderRef} listed as stuck`, async () => {
      const stuck = await bench.pipeline.list({ status: 'stuck', orderRef });
      assert.ok(stuck.kind === 'runs');
      return stuck.runs.some(({ status, waitingFor }) => {
        return status === 'stuck' && waitingFor === 'other code';
      });
    });
    const waiting = await bench.pipeline.list({ status: 'waiting', orderRef });
    assert.deepEqual(waiting, { kind: 'runs', runs: [] });
  }
}

const refOf = ({ id }: { id: OrderId }) => id.orderRef;
