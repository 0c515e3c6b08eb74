import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportOrders } from '../../bench/orders/report.ts';
import { runOrdersBench } from '../../bench/orders/run.ts';
import { IMPLEMENTATIONS } from '../../core/contract.ts';

test('the bench of orders measures each implementation in turn and reports what it measured', async () => {
  const result = await runOrdersBench({ orders: 6, rounds: 1 }, () => undefined);
  assert.deepEqual(
    result.cells.map(({ implementation }) => implementation),
    [...IMPLEMENTATIONS],
  );
  for (const { implementation, ...figures } of result.cells) {
    for (const [name, value] of Object.entries(figures)) {
      assert.ok(Number.isFinite(value) && value > 0, `${implementation} ${name}: ${value}`);
    }
  }
  assert.equal(result.machine.settings['synchronous_commit'], 'on');
  assert.doesNotMatch(reportOrders(result), /NaN|undefined/);
});
