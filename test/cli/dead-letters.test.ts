import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOf } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import { anOrder } from '../support/orders.ts';
import { assertGolden } from './q2t.ts';
import { SIDES, keyOf, openSide, outcomeOf } from './sides.ts';
import type { Side } from './sides.ts';

const who = ['--by', 'Ann', '--why', 'the warehouse knows it now'];

for (const on of SIDES) {
  describe(`dead letters on ${on}`, () => {
    let side: Side;
    before(async () => {
      side = await openSide(on);
    });
    after(() => side.close());

    const run = (args: string[], input?: string) => side.run(['dead-letters', ...args], input);

    /** An order that the warehouse calls wrong (400), which no retry can cure. Returns how to mend that. */
    async function stuck(order: Order): Promise<() => Promise<unknown>> {
      const fault = await side.partners.setFault({
        partner: 'warehouse',
        operation: 'reserve',
        reference: keyOf(order),
        effect: { kind: 'status', status: 400 },
      });
      await side.pipeline.submit(order);
      await side.until(orderIdOf(order), ({ status }) => status === 'stuck');
      return () => side.partners.clearFault(fault);
    }

    test('a stuck order is listed, shown with its reason, and where names the commands that help', async () => {
      const order = anOrder();
      await stuck(order);
      const list = await run(['list']);
      assert.equal(list.exitCode, 0);
      assert.match(list.stdout, new RegExp(`${keyOf(order)} +reserve `));
      const golden = { names: { [order.orderRef]: 'PO-A' }, on };
      await assertGolden('dead-letters-show', await run(['show', order.orderRef]), golden);
      await assertGolden('where-stuck', await side.run(['where', keyOf(order)]), golden);
    });

    test('a replay goes on once the cause is gone, and the order ends', async () => {
      const order = anOrder();
      const mend = await stuck(order);
      await mend();
      const { exitCode, stdout } = await run(['replay', keyOf(order), ...who]);
      assert.equal(exitCode, 0);
      assert.match(stdout, /replay requested by Ann/);
      assert.equal(await outcomeOf(side, order), 'completed');
      const again = await run(['replay', keyOf(order), ...who]);
      assert.equal(again.exitCode, 4);
      assert.match(again.stdout, /conflict: /);
      assert.equal((await run(['show', keyOf(order)])).exitCode, 3);
    });

    test('a discard gives the order up', async () => {
      const order = anOrder();
      await stuck(order);
      const { exitCode } = await run(['discard', keyOf(order), ...who]);
      assert.equal(exitCode, 0);
      assert.equal(await outcomeOf(side, order), 'discarded');
    });

    test('a fix goes on with the corrected order and shows what it changed', async () => {
      const order = anOrder();
      const mend = await stuck(order);
      const [line] = order.lines;
      assert.ok(line);
      const corrected = { ...order, lines: [{ ...line, sku: 'SN-34' }], tax: '2.50' };
      await mend();
      const ended = await run(['fix', order.orderRef, '-', ...who], JSON.stringify(corrected));
      await assertGolden('dead-letters-fix', ended, { names: { [order.orderRef]: 'PO-A' }, on });
      assert.equal(await outcomeOf(side, order), 'completed');
    });

    test('a fix with the order of somebody else, several orders or a bad one changes nothing', async () => {
      const order = anOrder();
      await stuck(order);
      const fix = (content: unknown) => {
        return run(['fix', keyOf(order), '-', ...who], JSON.stringify(content));
      };
      const other = await fix(anOrder());
      assert.equal(other.exitCode, 2);
      assert.match(other.stderr, /but the order to fix is acme\//);
      assert.match((await fix([order, anOrder()])).stderr, /A fix takes one order/);
      assert.match((await fix({ ...order, currency: 'EUX' })).stderr, /currency/);
      assert.equal((await side.position(orderIdOf(order))).status, 'stuck');
    });
  });
}
