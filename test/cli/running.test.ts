import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { orderIdOf } from '../../core/order/run-input.ts';
import { anOrder } from '../support/orders.ts';
import { assertGolden } from './q2t.ts';
import { SIDES, keyOf, large, openSide, outcomeOf, waiting } from './sides.ts';
import type { Side } from './sides.ts';

for (const on of SIDES) {
  describe(`a run on ${on}`, () => {
    /** One with a worker and one without, so that a test can do without beside others that need one. */
    let side: Side;
    let idle: Side;
    before(async () => {
      side = await openSide(on);
      idle = await openSide(on, { worker: false });
    });
    after(async () => {
      await side.close();
      await idle.close();
    });

    test('where answers while no worker has ever lived', async () => {
      const order = anOrder();
      await idle.pipeline.submit(order);
      const ended = await idle.runBinary(['where', keyOf(order)]);
      await assertGolden('where-no-worker', ended, { names: { [order.orderRef]: 'PO-A' }, on });
    });

    test('where says for whom, since when and until when an order waits, and what answers it', async () => {
      const order = large();
      await waiting(side, order);
      const ended = await side.run(['where', order.orderRef]);
      await assertGolden('where-approval', ended, { names: { [order.orderRef]: 'PO-A' }, on });
    });

    test('the history tells who decided and how it ended', async () => {
      const order = large();
      await waiting(side, order);
      await side.run(['decide', keyOf(order), 'reject', '--by', 'Ann', '--note', 'over budget']);
      assert.equal(await outcomeOf(side, order), 'rejected');
      const ended = await side.run(['where', keyOf(order), '--history']);
      await assertGolden('where-history', ended, { names: { [order.orderRef]: 'PO-A' }, on });
    });

    test('an approval is accepted once; a second one is a conflict', async () => {
      const order = large();
      await waiting(side, order);
      const first = await side.run(['decide', order.orderRef, 'approve', '--by', 'Ann']);
      assert.equal(first.exitCode, 0);
      assert.match(first.stdout, /approval \(version 1\) of acme\/\S+ approved by Ann/);
      assert.equal(await outcomeOf(side, order), 'completed');
      const second = await side.run(['decide', order.orderRef, 'reject', '--by', 'Bob']);
      assert.equal(second.exitCode, 4);
      assert.match(second.stdout, /not answered/);
    });

    test('an answer to another gate is a conflict, and the order waits on', async () => {
      const order = large();
      await waiting(side, order);
      const answer = ['decide', keyOf(order), 'approve', '--by', 'Ann'];
      const ended = await side.run([...answer, '--gate', 'approval', '--gate-version', '2']);
      assert.equal(ended.exitCode, 4);
      assert.match(ended.stdout, /wrong-gate/);
      assert.equal((await side.position(orderIdOf(order))).waitingFor?.kind, 'person');
    });

    test('an order that nobody has ends with 3', async () => {
      const where = await side.run(['where', 'PO-nobody']);
      await assertGolden('where-not-found', where, { on });
      const commands = [
        ['decide', 'acme/PO-nobody', 'approve', '--by', 'Ann'],
        ['cancel', 'PO-nobody', '--buyer', 'acme', '--by', 'Ann', '--reason', 'twice'],
        ['dead-letters', 'show', 'acme/PO-nobody'],
      ];
      for (const command of commands) {
        const { exitCode, stderr } = await side.run(command);
        assert.equal(exitCode, 3, command.join(' '));
        assert.match(stderr, /There is no .*PO-nobody/);
      }
    });

    test('a reference that two buyers use is answered by naming them', async () => {
      const one = anOrder({ buyerId: 'acme' });
      const other = { ...one, buyer: { ...one.buyer, id: 'b&b' } };
      await side.pipeline.submit(one);
      await side.pipeline.submit(other);
      // Lists lag behind; what is tested here is the answer once both are in.
      await side.until(orderIdOf(one), ({ status }) => status === 'ended');
      await side.until(orderIdOf(other), ({ status }) => status === 'ended');
      const { exitCode, stderr } = await side.run(['where', one.orderRef]);
      assert.equal(exitCode, 2);
      assert.match(stderr, /2 buyers have an order/);
      assert.ok(stderr.includes(keyOf(one)) && stderr.includes(keyOf(other)));
      for (const args of [[keyOf(other)], [one.orderRef, '--buyer', 'b&b']]) {
        const named = await side.run(['where', ...args, '--json']);
        assert.equal(named.exitCode, 0);
        assert.match(named.stdout, /"buyerId": "b&b"/);
      }
    });

    test('a reference with a slash in it is found as it is', async () => {
      const order = anOrder({}, { orderRef: `2026/${anOrder().orderRef}` });
      await side.pipeline.submit(order);
      await outcomeOf(side, order);
      assert.equal((await side.run(['where', order.orderRef])).exitCode, 0);
    });

    test('a cancelled order is undone, and a second cancel is a conflict', async () => {
      const order = large();
      await waiting(side, order);
      const cancel = ['cancel', order.orderRef, '--by', 'Ann', '--reason', 'ordered twice'];
      const first = await side.run(cancel);
      assert.equal(first.exitCode, 0);
      assert.match(first.stdout, /cancel requested by Ann/);
      assert.equal(await outcomeOf(side, order), 'cancelled');
      assert.equal((await side.run(cancel)).exitCode, 4);
    });

    test('list filters by status and step, and says when there may be more', async () => {
      const order = large();
      await waiting(side, order);
      const { exitCode, stdout } = await side.run([
        'list',
        '--status',
        'waiting',
        '--step',
        'approve',
      ]);
      assert.equal(exitCode, 0);
      const row = stdout.split('\n').find((line) => line.startsWith(keyOf(order)));
      assert.match(row ?? '', /waiting +approve +purchasing/);
      assert.doesNotMatch(stdout, /completed/);
      const one = await side.run(['list', '--limit', '1']);
      assert.equal(one.stdout.split('\n').length, 2);
      assert.match(one.stderr, /The newest 1; there may be more/);
    });

    test('what a run was told is shown, and does nothing to the terminal', async () => {
      const order = large();
      await waiting(side, order);
      await side.pipeline.cancel(orderIdOf(order), 'Mallory', 'gone \u001b[2J\u202e');
      await outcomeOf(side, order);
      const { stdout } = await side.run(['where', keyOf(order), '--history']);
      assert.match(stdout, /gone \\u\{1b\}\[2J\\u\{202e\}/);
      assert.ok(!stdout.includes('\u001b') && !stdout.includes('\u202e'));
    });
  });
}
