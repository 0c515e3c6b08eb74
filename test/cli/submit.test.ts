import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Order } from '../../core/order/schema.ts';
import { anOrder } from '../support/orders.ts';
import { assertGolden } from './q2t.ts';
import { SIDES, openSide, outcomeOf } from './sides.ts';
import type { Side } from './sides.ts';

for (const on of SIDES) {
  describe(`submit on ${on}`, () => {
    let side: Side;
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'q2t-submit-'));
      side = await openSide(on);
    });
    after(async () => {
      await side.close();
      await rm(folder, { recursive: true, force: true });
    });

    async function fileOf(...orders: Order[]): Promise<string> {
      const file = join(folder, `${orders[0]?.orderRef}-${orders[0]?.lines[0]?.quantity}.json`);
      await writeFile(file, JSON.stringify(orders.length === 1 ? orders[0] : orders));
      return file;
    }

    test('submit says started, already running, and conflict for other content', async () => {
      // Above the limit, so that it still runs when it comes again.
      const order = anOrder({ unitPrice: '5000' });
      const file = await fileOf(order);
      const first = await side.run(['submit', file]);
      await assertGolden('submit-started', first, { names: { [order.orderRef]: 'PO-A' }, on });
      const second = await side.run(['submit', file]);
      assert.equal(second.exitCode, 0);
      assert.match(second.stdout, /already running/);
      const [line] = order.lines;
      assert.ok(line);
      const changed = { ...order, lines: [{ ...line, quantity: '11' }] };
      const third = await side.run(['submit', await fileOf(changed)]);
      assert.equal(third.exitCode, 4);
      assert.match(
        third.stdout,
        /conflict: this reference is taken by an order with other content/,
      );
    });

    test('submit says already finished, with the outcome', async () => {
      const order = anOrder();
      await side.pipeline.submit(order);
      assert.equal(await outcomeOf(side, order), 'completed');
      const { exitCode, stdout } = await side.run(['submit', await fileOf(order)]);
      assert.equal(exitCode, 0);
      assert.match(stdout, /already finished, completed/);
    });

    test('of several files every order gets its line, and the code is that of the worst', async () => {
      const taken = anOrder();
      await side.pipeline.submit({ ...taken, tax: '1' });
      const [one, two, three] = [anOrder(), anOrder(), anOrder()];
      const files = [await fileOf(one), await fileOf(taken), await fileOf(two, three)];
      const names = {
        [folder]: 'FOLDER',
        [one.orderRef]: 'PO-A',
        [taken.orderRef]: 'PO-TAKEN',
        [two.orderRef]: 'PO-B',
        [three.orderRef]: 'PO-C',
      };
      await assertGolden('submit-several', await side.run(['submit', ...files]), { names, on });
      assert.equal(await outcomeOf(side, three), 'completed');
    });

    test('an order on standard input starts', async () => {
      const order = anOrder();
      const { exitCode } = await side.runBinary(['submit', '-'], JSON.stringify(order));
      assert.equal(exitCode, 0);
      assert.equal(await outcomeOf(side, order), 'completed');
    });
  });
}
