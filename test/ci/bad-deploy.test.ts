import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Position, Stalled } from '../../core/contract.ts';
import type { HistoryEntry } from '../../core/history.ts';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { copySources } from '../../replay/changes/change.ts';
import type { Change } from '../../replay/changes/change.ts';
import { bundleStage } from '../../replay/gate/bundle.ts';
import type { Stage } from '../../replay/stages.ts';
import { q2tInside } from '../cli/q2t.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';
import { startWorkerProcess } from '../workflows/worker-script.ts';

// One story, a chapter a test, in this order: each goes on with the runs of the one before. The change is
// `screen` shipped without its patch (the stage `removed`) while runs from before it are open.

const policy = { ...quickPolicy, workflowTaskTimeoutMs: 2_000 };
const operator = { by: 'Ops', why: 'bad deploy' };

let dir: string;
let bench: OrderBench;
let worker: ReturnType<typeof startWorkerProcess> | undefined;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'q2t-bad-deploy-'));
  bench = await openBench({ worker: false, confirmWithinMs: 1_000 });
});
after(async () => {
  worker?.kill('SIGKILL');
  await worker;
  await bench.close();
  await rm(dir, { recursive: true, force: true });
});

/** Replaces the worker process by one with the code in `file`. */
async function deploy(file: string | undefined): Promise<void> {
  worker?.kill('SIGTERM');
  await worker;
  worker = startWorkerProcess(bench, file === undefined ? {} : { Q2T_BUNDLE: file });
}

async function stage(name: Stage): Promise<string> {
  return written(name, await bundleStage(name));
}

async function changed(change: Change): Promise<string> {
  const copy = await copySources();
  try {
    return await written('changed', await copy.bundleWith(change));
  } finally {
    await copy.remove();
  }
}

async function written(name: string, { code }: { code: string }): Promise<string> {
  const file = join(dir, `${name}.js`);
  await writeFile(file, code);
  return file;
}

/** Submits orders that need an approval and returns when all of them wait for it. */
async function waiting(count: number): Promise<OrderId[]> {
  const orders = Array.from({ length: count }, () => anOrder({ unitPrice: '2000.00' }));
  for (const order of orders) await bench.pipeline.submit(order, policy);
  const ids = orders.map(orderIdOf);
  for (const id of ids) await bench.until(id, ({ status }) => status === 'waiting');
  return ids;
}

const approve = (id: OrderId) =>
  bench.pipeline.decide(id, { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'Ada' });

/** Wakes the run with an answer that nobody can take, and returns what `where` says of it. */
async function stalled(id: OrderId): Promise<Stalled> {
  assert.equal((await approve(id)).kind, 'not-confirmed');
  const position = await bench.until(id, (found) => found.stalled !== undefined);
  assert.equal(position.status, 'stuck');
  // What it waited for is still true when there is code for it again.
  assert.equal(position.waitingFor?.kind, 'person');
  assert.ok(position.stalled);
  return position.stalled;
}

/** Answers whenever the run asks, until it has ended. An answer that nobody took at first may have been kept. */
async function throughApproval(id: OrderId): Promise<Position> {
  return until(`${id.orderRef} has ended`, async () => {
    const position = await bench.position(id);
    if (position.status === 'ended') return position;
    if (position.status === 'waiting') await approve(id);
    return undefined;
  });
}

async function assertEachOnce(id: OrderId): Promise<void> {
  const { enquiry, reservation, charge, order, mail, release, refund } =
    await bench.partners.counts(businessKey(id));
  assert.deepEqual([enquiry, reservation, charge, order, mail], [1, 1, 1, 1, 1], id.orderRef);
  assert.deepEqual([release, refund], [0, 0], id.orderRef);
}

let good: string;
let bad: string;
/** Runs from before the deploy, all of which wait for an approval. */
let inFlight: { reset: OrderId; rolledBack: OrderId; cancelled: OrderId };
/** Runs that were started on the bad version; they have their stock reserved. */
let onBad: { reset: OrderId; rejected: OrderId; kept: OrderId; patched: OrderId };
/** One of the version that came back, for the patch. */
let later: OrderId | undefined;

test('runs that the new code cannot follow are stuck when they are woken, and say since when, by which version and where', async () => {
  [good, bad] = [await stage('before'), await stage('removed')];
  await deploy(good);
  const [reset, rolledBack, cancelled] = await waiting(3);
  assert.ok(reset && rolledBack && cancelled);
  inFlight = { reset, rolledBack, cancelled };
  await deploy(bad);
  const [first, second, third, fourth] = await waiting(4);
  assert.ok(first && second && third && fourth);
  onBad = { reset: first, rejected: second, kept: third, patched: fourth };

  const { reason, since, version, eventId, resetTo } = await stalled(reset);
  assert.match(
    reason,
    /^version (\w{12}) \(\d+@.+\) can't go on: at event \d+ the history, by version (?!\1)\w{12}, sets OrderStatus=waiting, OrderStep=approve, .*; the code schedules an activity$/,
  );
  assert.ok(version !== undefined && reason.includes(version) && Date.parse(since) > 0);
  assert.ok(eventId !== undefined && resetTo !== undefined && resetTo < eventId);
  assert.equal((await stalled(rolledBack)).version, version);
  await bench.pipeline.cancel(cancelled, 'Ada', 'ordered elsewhere');
  await bench.until(cancelled, (position) => position.stalled !== undefined);
  for (const id of Object.values(inFlight)) await listedAsStuck(id);

  const { stdout, stderr, exitCode } = await q2t('where', businessKey(reset));
  assert.equal(exitCode, 0);
  assert.ok(stdout.includes('stuck at approve (step 4 of 9)'), stdout);
  assert.ok(stdout.includes(`waits for other code: ${reason}`), stdout);
  assert.ok(stdout.includes('waits for purchasing to answer approval'), stdout);
  assert.ok(stderr.includes(`q2t reset ${businessKey(reset)} --by NAME --why TEXT`), stderr);
});

test('what is asked of a stuck run is answered with why it cannot be, and is no dead letter', async () => {
  const { reset: id, cancelled } = inFlight;
  const { stalled: stall } = await bench.position(id);
  assert.ok(stall);
  const decided = await approve(id);
  assert.ok(decided.kind === 'not-confirmed' && decided.reason.includes(stall.reason));
  const asked = await bench.pipeline.cancel(cancelled, 'Bob', 'ordered twice');
  assert.ok(asked.kind === 'requested' && asked.stalled?.startsWith('version '));
  const letters = await bench.pipeline.deadLetters.list();
  assert.ok(letters.kind === 'dead-letters');
  assert.ok(!letters.deadLetters.some(({ id: { orderRef } }) => orderRef === id.orderRef));
  const replayed = await bench.pipeline.deadLetters.replay(id, operator);
  assert.ok(replayed.kind === 'conflict' && replayed.reason.includes(stall.reason));
});

test('reset: the run goes on with the new code from where that left its history, under the same keys', async () => {
  const { reset: id, cancelled } = inFlight;
  const { stdout, exitCode } = await q2t('reset', businessKey(id), ...WHO);
  assert.equal(exitCode, 0);
  assert.match(stdout, /reset to before event \d+ by Ops\n +again +nothing that was done/);
  const ended = await throughApproval(id);
  assert.deepEqual(ended.history.map(inShort), [
    ...['started', 'validate', 'price', 'reset by Ops: bad deploy', 'credit', 'screen', 'reserve'],
    ...['waiting', 'decided', 'approve', 'charge', 'place', 'invoice', 'close', 'ended'],
  ]);
  await assertEachOnce(id);

  const again = await bench.pipeline.reset(cancelled, operator);
  // One that came while a worker held the task is not in the history yet, and is not lost either.
  assert.ok(again.kind === 'reset' && again.sentAgain.includes('cancel by Ada'));
  const { outcome, history } = await bench.until(cancelled, ({ status }) => status === 'ended');
  assert.equal(outcome, 'cancelled');
  const cancels = history.filter(({ type }) => type.startsWith('cancel'));
  assert.deepEqual(
    cancels.map((entry) => 'by' in entry && entry.by),
    ['Ada', 'Bob'],
  );
});

test('rolled back: the runs from before go on; those that began on the bad version are stuck, and reset', async () => {
  await deploy(good);
  await throughApproval(inFlight.rolledBack);
  await assertEachOnce(inFlight.rolledBack);

  const { reason } = await stalled(onBad.reset);
  assert.match(reason, /the history, by version \w{12}, schedules activity "screen"; the code /);
  const result = await bench.pipeline.reset(onBad.reset, operator);
  assert.ok(result.kind === 'reset');
  assert.deepEqual(result.again, ['screen', 'reserve']);
  await throughApproval(onBad.reset);
  await assertEachOnce(onBad.reset);
});

test('what was done in what a reset dropped is undone with the rest, when the run comes to that', async () => {
  const id = onBad.rejected;
  await stalled(id);
  assert.equal((await bench.pipeline.reset(id, operator)).kind, 'reset');
  await bench.until(id, ({ status }) => status === 'waiting');
  // Its stock is held since before the reset, and this run has not come to that step.
  const no = { gate: 'approval', gateVersion: 1, decision: 'reject', by: 'Ada' } as const;
  assert.equal((await bench.pipeline.decide(id, no)).kind, 'accepted');
  const { outcome } = await bench.until(id, ({ status }) => status === 'ended');
  assert.equal(outcome, 'rejected');
  const { reservation, release, charge, refund } = await bench.partners.counts(businessKey(id));
  assert.deepEqual(
    { reservation, release, charge, refund },
    { reservation: 1, release: 1, charge: 0, refund: 0 },
  );
});

test('a version that is kept running carries the runs that began on it to their end', async () => {
  [later] = await waiting(1);
  assert.ok(later);
  await deploy(bad);
  await throughApproval(onBad.kept);
  await assertEachOnce(onBad.kept);
  await stalled(later);
});

test('the patch: runs from before go on in their own order, without a reset', async () => {
  await deploy(undefined);
  assert.ok(later);
  const { history } = await throughApproval(later);
  assert.ok(!history.map(inShort).includes('screen'));
  await assertEachOnce(later);
});

test('a patch carries those that began on the bad version when it knows them, by the build that they began on', async () => {
  const { reason } = await stalled(onBad.patched);
  const began = /the history, by version (\w{12}),/.exec(reason)?.[1];
  assert.ok(began, reason);
  await deploy(
    await changed({
      name: 'a patch that knows both, and children that throw, for the last chapter',
      edits: [
        {
          file: 'workflows/price.ts',
          from: PRICES,
          to: `${PRICES}  throw new Error('no prices');\n`,
        },
        { file: ORDER, from: 'import { patched }', to: 'import { patched, workflowInfo }' },
        {
          file: ORDER,
          from: "patched('screen') ?",
          to: `patched('screen') || workflowInfo().currentBuildId?.includes('${began}') ?`,
        },
      ],
    }),
  );
  await throughApproval(onBad.patched);
  await assertEachOnce(onBad.patched);
});

test('a reset of a run that nothing stops, that has ended or never was, or to no event of it, is refused', async () => {
  const [id] = await waiting(1);
  assert.ok(id);
  const reasonFor = async (toEvent?: number) => {
    const answer = await bench.pipeline.reset(id, { ...operator, ...(toEvent && { toEvent }) });
    return answer.kind === 'conflict' ? answer.reason : answer.kind;
  };
  assert.match(await reasonFor(), /^nothing stops the run/);
  assert.match(await reasonFor(10_000), /^the history ends with event \d+$/);
  assert.match(await reasonFor(2), /^the run had not begun at event 2$/);
  await bench.pipeline.cancel(id, 'Ada', 'over');
  await bench.until(id, ({ status }) => status === 'ended');
  assert.equal(await reasonFor(4), 'the run has ended');
  const nobodys = await bench.pipeline.reset({ buyerId: 'nobody', orderRef: 'none' }, operator);
  assert.deepEqual(nobodys, { kind: 'not-found' });
});

test('a reset to before something was undone is refused: its key is used up', async () => {
  const order = anOrder();
  const id = orderIdOf(order);
  const reference = businessKey(id);
  const refuse = (partner: 'supplier' | 'warehouse', operation: string, status: number) =>
    bench.partners.setFault({ partner, operation, reference, effect: { kind: 'status', status } });
  await refuse('supplier', 'place', 422);
  await refuse('warehouse', 'release', 400);
  await bench.pipeline.submit(order, policy);
  await bench.until(id, ({ status }) => status === 'stuck');
  const answer = await bench.pipeline.reset(id, { ...operator, toEvent: 4 });
  assert.ok(answer.kind === 'conflict' && answer.reason.startsWith('refund was done'));
  await bench.partners.clearFault();
  await bench.pipeline.deadLetters.replay(id, operator);
  const { outcome } = await bench.until(id, ({ status }) => status === 'ended');
  assert.equal(outcome, 'refused');
});

test('an order whose child throws stands still with it, says so, and goes on with code that does not', async () => {
  const order = anOrder({ lines: 251, unitPrice: '1.00' });
  const id = orderIdOf(order);
  await bench.pipeline.submit(order, policy);
  const { stalled: stall } = await bench.until(id, (position) => position.stalled !== undefined);
  assert.match(
    stall?.reason ?? '',
    /^its child order\/acme\/\S+\/lines\/0: version \w{12} .* its code throws: no prices \(workflows\/price\.ts:\d+\)$/,
  );
  await listedAsStuck(id);
  const refused = await bench.pipeline.reset(id, operator);
  assert.ok(refused.kind === 'conflict' && /would come to the same place/.test(refused.reason));
  await bench.pipeline.cancel(id, 'Ada', 'over');
  await deploy(undefined);
  assert.equal((await bench.until(id, ({ status }) => status === 'ended')).outcome, 'cancelled');
});

const PRICES = '  const prices = new Map<string, string>();\n';
const ORDER = 'workflows/purchase-order.ts';
const WHO = ['--by', operator.by, '--why', operator.why];

function q2t(...args: string[]) {
  return q2tInside(args, {
    env: { TEMPORAL_ADDRESS: bench.address, Q2T_TASK_QUEUE: bench.taskQueue },
  });
}

function inShort(entry: HistoryEntry): string {
  if (entry.type === 'step-done') return entry.step;
  return entry.type === 'reset' ? `reset by ${entry.by}: ${entry.why}` : entry.type;
}

/** The server writes it down with the second failure, and lists lag behind. */
async function listedAsStuck({ orderRef }: OrderId): Promise<void> {
  await until(`${orderRef} listed as stuck`, async () => {
    const stuck = await bench.pipeline.list({ status: 'stuck', orderRef });
    const [run] = stuck.kind === 'runs' ? stuck.runs : [];
    return run?.status === 'stuck' && run.waitingFor === 'other code';
  });
  const waits = await bench.pipeline.list({ status: 'waiting', orderRef });
  assert.deepEqual(waits, { kind: 'runs', runs: [] });
}
