import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { anOrder } from '../support/orders.ts';
import { q2tInside } from './q2t.ts';
import { keyOf, large, openSide } from './sides.ts';
import type { Side } from './sides.ts';

// What is so on Temporal only: an answer needs a worker, and there are namespaces.
describe('the command line on Temporal', () => {
  let side: Side;
  before(async () => {
    side = await openSide('temporal', { worker: false });
  });
  after(() => side.close());

  test('a decision that no worker confirms ends with 5 and says to repeat it', async () => {
    const order = large();
    await side.pipeline.submit(order);
    const ended = await side.run(['decide', keyOf(order), 'approve', '--by', 'Ann']);
    assert.equal(ended.exitCode, 5);
    assert.match(ended.stdout, /^not confirmed: /);
    assert.match(ended.stderr, /Repeat the command/);
  });

  test('orders that the server does not take are named one by one, and end with 1', async () => {
    const [one, two] = [anOrder(), anOrder()];
    const { exitCode, stdout } = await q2tInside(['submit', '-'], {
      env: { ...side.env, TEMPORAL_NAMESPACE: 'nowhere' },
      input: JSON.stringify([one, two]),
    });
    assert.equal(exitCode, 1);
    for (const order of [one, two]) {
      assert.match(stdout, new RegExp(`^${keyOf(order)} +not submitted: .*nowhere`, 'm'));
    }
  });
});
