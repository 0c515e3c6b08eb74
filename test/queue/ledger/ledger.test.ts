import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { StepFailure } from '../../../core/failures.ts';
import type { Policy } from '../../../core/policy.ts';
import { withTransaction } from '../../../queue/database.ts';
import { countDoubleEffects, keepEvidence } from '../../../queue/ledger/evidence.ts';
import { EffectFailure, NotYet, perform } from '../../../queue/ledger/effect.ts';
import type { Effect, Performer } from '../../../queue/ledger/effect.ts';
import { reconcile } from '../../../queue/ledger/reconcile.ts';
import { writeOutcome } from '../../../queue/ledger/records.ts';
import { limitPartner, pausePartner, waitForPartner } from '../../../queue/limits/partner-limit.ts';
import { recordEffect } from '../../../queue/runs/failed.ts';
import { fence, LeaseLost } from '../../../queue/runs/fence.ts';
import type { Holding } from '../../../queue/runs/hold.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { useIdle } from '../support/engine.ts';

const policy: Policy = { ...quickPolicy, settleMs: 60_000, maxLostWorkers: 100 };

describe('the ledger', () => {
  const on = useIdle();
  beforeEach(() => on.idle.engine.transport.purge('orders'));

  function performerOf({ lease }: Holding, changes: Partial<Policy> = {}): Performer {
    const fenced: Performer['fenced'] = (work) =>
      withTransaction(on.idle.engine.pool, async (tx) => {
        await fence(tx, lease);
        return work(tx);
      });
    return {
      token: lease.token,
      leasedAt: lease.leasedAt,
      leaseMs: lease.leaseMs,
      begin: fenced,
      fenced,
      policy: { ...policy, ...changes },
      metrics: on.idle.engine.metrics,
      signal: new AbortController().signal,
    };
  }

  /** A partner with one effect that knows no keys, and counts. */
  function partnerOf(runId: string) {
    const happened: string[] = [];
    const effect: Effect<{ id: string }> = {
      effectKey: `${runId}/r1/place`,
      runId,
      revision: 1,
      step: 'place',
      partner: 'supplier',
      ask: async () => (happened[0] === undefined ? undefined : { id: happened[0] }),
      async act() {
        happened.push(`id-${happened.length + 1}`);
        return { id: happened.at(-1) ?? '' };
      },
    };
    return { happened, effect };
  }

  test('answers what is done with its outcome, and does it not again', async () => {
    const run = await on.submitted(policy);
    const holding = await run.take();
    const { happened, effect } = partnerOf(run.runId);
    const performer = performerOf(holding);
    const first = await perform(performer, effect);
    await performer.fenced((tx) => writeOutcome(tx, first.effectKey, first.outcome));
    assert.deepEqual(await perform(performer, effect), first);
    assert.deepEqual(happened, ['id-1']);
  });

  test('A1, A18: after a crash between act and outcome waits for what may land, asks, and does not act again', async () => {
    const run = await on.submitted(policy);
    const { happened, effect } = partnerOf(run.runId);
    await perform(performerOf(await run.take()), effect);
    await run.lose();
    const next = await run.take();
    await assert.rejects(perform(performerOf(next), effect), NotYet);
    const settled = await perform(performerOf(next, { settleMs: 0 }), effect);
    assert.deepEqual(settled.outcome, { id: 'id-1' });
    assert.deepEqual(happened, ['id-1']);
  });

  test('a request that lands late, while its settle time runs, is found', async () => {
    const run = await on.submitted(policy);
    const { happened, effect } = partnerOf(run.runId);
    const timeout = new StepFailure('unknown', 'timeout', 'no answer');
    const silent = { ...effect, act: () => Promise.reject(timeout) };
    await assert.rejects(perform(performerOf(await run.take()), silent), EffectFailure);
    await run.lose();
    const next = await run.take();
    await assert.rejects(perform(performerOf(next), effect), NotYet);
    happened.push('late');
    const settled = await perform(performerOf(next, { settleMs: 0 }), effect);
    assert.deepEqual([settled.outcome, happened], [{ id: 'late' }, ['late']]);
  });

  test('a partner that said it did not act is asked nothing and acts at once', async () => {
    const run = await on.submitted(policy);
    const { happened, effect } = partnerOf(run.runId);
    const busy = new StepFailure('busy', 'unavailable', 'come again');
    const performer = performerOf(await run.take());
    const failure: unknown = await perform(performer, {
      ...effect,
      act: () => Promise.reject(busy),
    }).catch((error: unknown) => error);
    assert.ok(failure instanceof EffectFailure);
    await performer.fenced((tx) => recordEffect(tx, failure));
    await perform(performer, { ...effect, ask: () => assert.fail('asked') });
    assert.deepEqual(happened, ['id-1']);
  });

  test('A1: a stale worker writes nothing: no intent, no outcome; what it learnt is kept beside', async () => {
    const run = await on.submitted(policy);
    const { happened, effect } = partnerOf(run.runId);
    const stale = performerOf(await run.take());
    const learnt = await perform(stale, effect);
    await run.lose();
    await run.take();
    await assert.rejects(
      stale.fenced((tx) => writeOutcome(tx, learnt.effectKey, learnt.outcome)),
      LeaseLost,
    );
    await assert.rejects(perform(stale, effect), LeaseLost);
    assert.deepEqual(happened, ['id-1']);
    const { rows } = await on.bench.pool.query('SELECT state FROM queue.ledger WHERE run_id = $1', [
      run.runId,
    ]);
    assert.deepEqual(rows, [{ state: 'intent' }]);
  });

  test('two different outcomes of one key count as a double effect, the same one twice does not', async () => {
    const run = await on.submitted(policy);
    const { effect } = partnerOf(run.runId);
    const performer = performerOf(await run.take());
    const first = await perform(performer, effect);
    await performer.fenced((tx) => writeOutcome(tx, first.effectKey, first.outcome));
    const learnt = { effectKey: effect.effectKey, runId: run.runId, token: '1', worker: 'w' };
    const before = await countDoubleEffects(on.bench.pool);
    await keepEvidence(on.bench.pool, { ...learnt, outcome: first.outcome });
    assert.equal(await countDoubleEffects(on.bench.pool), before);
    await keepEvidence(on.bench.pool, { ...learnt, outcome: { id: 'another' } });
    assert.equal(await countDoubleEffects(on.bench.pool), before + 1);
  });

  test('a double effect that no worker lived to tell of is found by asking the partner', async () => {
    const order = anOrder();
    const worker = await on.bench.startWorker();
    await on.bench.pipeline.submit(order, quickPolicy);
    const id = { buyerId: order.buyer.id, orderRef: order.orderRef };
    await on.bench.ended(id);
    await worker.stop();
    // What other tests wrote happened at no partner that could be asked.
    await on.bench.pool.query('DELETE FROM queue.ledger WHERE run_id <> $1', [
      `${order.buyer.id}/${order.orderRef}`,
    ]);
    const call = { timeoutMs: 5_000 };
    const first = await reconcile(on.bench.pool, on.idle.engine.partners, { batch: 100, call });
    assert.equal(first.disagreements, 0);
    assert.ok(first.compared >= 3);
    const reference = `${order.buyer.id}/${order.orderRef}`;
    await on.idle.engine.partners.supplier.place(
      {
        supplierId: order.supplierId,
        reference,
        supplierReference: `${reference}/r1/place`,
        lines: [{ sku: 'SN-1', quantity: '10', unit: 'NAR' }],
      },
      call,
    );
    const second = await reconcile(on.bench.pool, on.idle.engine.partners, { batch: 100, call });
    assert.equal(second.disagreements, 1);
    const { rows } = await on.bench.pool.query(
      'SELECT expected, found FROM queue.disagreement WHERE run_id = $1',
      [reference],
    );
    assert.deepEqual(rows, [{ expected: 1, found: 2 }]);
  });

  test('a pause that one worker was asked for holds for all, and costs no attempt', async () => {
    const run = await on.submitted(policy);
    const { happened, effect } = partnerOf(run.runId);
    const performer = performerOf(await run.take());
    await performer.fenced((tx) => pausePartner(tx, 'supplier', 60_000));
    await assert.rejects(perform(performer, effect), NotYet);
    assert.deepEqual(happened, []);
    const { rowCount } = await on.bench.pool.query('SELECT FROM queue.ledger WHERE run_id = $1', [
      run.runId,
    ]);
    assert.equal(rowCount, 0);
    await on.bench.pool.query('DELETE FROM queue.partner_limit');
  });

  test('a rate limit gives out one slot at a time, whoever asks', async () => {
    await limitPartner(on.bench.pool, 'bureau', 1 / 3_600);
    const waits = await Promise.all([1, 2, 3].map(() => waitForPartner(on.bench.pool, 'bureau')));
    assert.equal(waits.filter((wait) => wait === 0).length, 1);
    await on.bench.pool.query('DELETE FROM queue.partner_limit');
  });

  test('whatever crashes between its statements, one key has one outcome, one effect, and tokens only rise', async () => {
    // Where the worker dies: before acting, after acting before writing the outcome, or not at all.
    const fate = fc.constantFrom('before-act', 'after-act', 'timeout-acted', 'busy', 'well');
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { maxLength: 8 }), async (fates) => {
        const run = await on.submitted(policy);
        const { happened, effect } = partnerOf(run.runId);
        const outcomes = new Set<string>();
        let token = 0n;
        for (const next of [...fates, 'well'] as const) {
          const holding = await run.take();
          assert.ok(BigInt(holding.lease.token) > token);
          token = BigInt(holding.lease.token);
          const performer = performerOf(holding, { settleMs: 0 });
          const acts: Record<typeof next, Effect<{ id: string }>['act']> = {
            well: effect.act,
            'after-act': effect.act,
            'before-act': () => Promise.reject(new Error('killed')),
            busy: () => Promise.reject(new StepFailure('busy', 'unavailable', 'no')),
            'timeout-acted': async (call) => {
              await effect.act(call);
              throw new StepFailure('unknown', 'timeout', 'no answer');
            },
          };
          const done = await perform(performer, { ...effect, act: acts[next] }).catch(
            async (error: unknown) => {
              if (error instanceof EffectFailure) {
                await performer.fenced((tx) => recordEffect(tx, error));
              }
              return undefined;
            },
          );
          if (done && next !== 'after-act') {
            await performer.fenced((tx) => writeOutcome(tx, done.effectKey, done.outcome));
            outcomes.add(done.outcome.id);
          }
          await run.lose();
        }
        assert.deepEqual(happened, ['id-1']);
        assert.deepEqual([...outcomes], ['id-1']);
      }),
      { numRuns: 20 },
    );
  });
});
