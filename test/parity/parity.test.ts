import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Policy } from '../../core/policy.ts';
import { quickPolicy } from '../support/orders.ts';
import { paths, skuOf, type Path } from './paths.ts';
import { observe, openQueueSide, openTemporalSide, type Observation, type Side } from './side.ts';

/** A partner that holds a request is let go by the test, never by a timeout: that would be another path. */
const policy: Policy = { ...quickPolicy, partnerTimeoutMs: 30_000, attemptTimeoutMs: 60_000 };

/** The same order, put to both: what matters must not depend on who runs it. */
suite('queue and temporal agree on an order that is', { concurrency: 4 }, () => {
  let sides: readonly [Side, Side];
  before(async () => {
    sides = await Promise.all([openQueueSide(), openTemporalSide()]);
  });
  after(() => Promise.all(sides.map((side) => side.close())));

  for (const path of paths) {
    test(path.name, async () => {
      const order = path.order();
      const [queue, temporal] = await Promise.all(sides.map((side) => run(side, path, order)));
      assert.ok(queue && temporal);
      // First against what is right, so that both being wrong in the same way is no agreement.
      for (const { outcome, effects } of [queue, temporal]) {
        assert.equal(outcome, path.outcome);
        assert.deepEqual(effects, path.effects);
      }
      assert.deepEqual(queue, temporal);
    });
  }
});

async function run(side: Side, path: Path, order: Order): Promise<Observation> {
  const id = orderIdOf(order);
  skuOf.set(businessKey(id), order.lines[0]?.sku ?? '');
  for (const fault of path.faults?.(id, order) ?? []) await side.partners.setFault(fault);
  const seen: string[] = [];
  assert.deepEqual(await side.pipeline.submit(order, policy), { kind: 'started', id });
  await path.happens?.(side, id, ({ step, status, waitingFor }) => {
    seen.push(
      [step, status, waitingFor?.kind, waitingFor?.kind === 'person' ? waitingFor.who : '']
        .join(' ')
        .trim(),
    );
  });
  const observation = await observe(side, id, seen);
  const again = await side.pipeline.submit(order, policy);
  assert.deepEqual(again, { kind: 'already-finished', id, outcome: path.outcome });
  const other = await side.pipeline.submit({ ...order, supplierId: 'sup_other' }, policy);
  assert.equal(other.kind, 'conflict');
  return observation;
}
