import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Db, Transport } from '../../../queue/transport/contract.ts';
import { receiveNow, receiveOne } from './support.ts';

/** A transport with three receives per message, and what its `send` wants as `db`. */
export interface ContractHarness {
  transport: Transport;
  db: Db;
  close(): Promise<void>;
}

const NEVER_GIVEN_OUT = '1.00000000-0000-4000-8000-000000000000';

/** What every transport must do, whatever it is made of. Each test uses a queue of its own. */
export function transportContract(name: string, open: () => Promise<ContractHarness>): void {
  describe(name, () => {
    let harness: ContractHarness;
    let transport: Transport;
    let queues = 0;
    const freshQueue = () => `contract-${(queues += 1)}`;
    const send = (queue: string, ...bodies: unknown[]) =>
      transport.send(
        harness.db,
        queue,
        bodies.map((body) => ({ body })),
      );

    before(async () => {
      harness = await open();
      transport = harness.transport;
    });
    after(() => harness.close());

    test('delivers what was sent, once, with its key, and forgets it after the ack', async () => {
      const queue = freshQueue();
      const body = {
        text: 'a "quoted" \u0000 line\n',
        deep: [1, null, { ok: true }],
        large: 1e300,
      };
      const [id] = await transport.send(harness.db, queue, [{ body, key: 'order/1' }]);
      const message = await receiveOne(transport, queue);
      assert.equal(message.messageId, id);
      assert.deepEqual(message.body, body);
      assert.equal(message.key, 'order/1');
      assert.equal(message.receiveCount, 1);
      assert.deepEqual(message.attempts, []);
      assert.deepEqual(await receiveNow(transport, queue), []);
      assert.equal(await transport.ack(queue, message.receipt), 'ok');
      assert.equal(await transport.ack(queue, message.receipt), 'stale');
      assert.equal((await transport.counts(queue)).inFlight, 0);
    });

    test('a batch keeps its order in the ids and delivers every message once', async () => {
      const queue = freshQueue();
      const ids = await send(queue, 'a', 'b', 'c', 'd', 'e');
      assert.equal(new Set(ids).size, 5);
      const first = await receiveNow(transport, queue, 3);
      const second = await receiveNow(transport, queue, 3);
      assert.deepEqual([first.length, second.length], [3, 2]);
      const byId = new Map([...first, ...second].map((m) => [m.messageId, m.body]));
      assert.deepEqual(
        ids.map((id) => byId.get(id)),
        ['a', 'b', 'c', 'd', 'e'],
      );
    });

    test('an empty batch sends nothing', async () => {
      assert.deepEqual(await send(freshQueue()), []);
    });

    test('queues do not see each other', async () => {
      const [queue, other] = [freshQueue(), freshQueue()];
      await send(queue, 'here');
      assert.deepEqual(await receiveNow(transport, other), []);
      const message = await receiveOne(transport, queue);
      assert.equal(await transport.ack(other, message.receipt), 'stale');
      assert.equal(await transport.ack(queue, message.receipt), 'ok');
    });

    test('a delayed message is not delivered early', async () => {
      const queue = freshQueue();
      await transport.send(harness.db, queue, [{ body: 'later', delayMs: 300 }]);
      assert.equal((await transport.counts(queue)).delayed, 1);
      const message = await receiveOne(transport, queue);
      // Two days of the same clock: the one that sent it and the one that hid it again.
      const receivedAtMs = message.visibleAgainAt.getTime() - 60_000;
      assert.ok(receivedAtMs >= message.sentAt.getTime() + 299, 'delivered before it was due');
    });

    test('a message whose visibility ran out comes again under a new receipt', async () => {
      const queue = freshQueue();
      await send(queue, 'slow');
      const first = await receiveOne(transport, queue, { visibilityMs: 30 });
      const second = await receiveOne(transport, queue);
      assert.equal(second.messageId, first.messageId);
      assert.notEqual(second.receipt, first.receipt);
      assert.equal(second.receiveCount, 2);
      assert.deepEqual(
        second.attempts.map((attempt) => attempt.outcome),
        ['visibility ran out'],
      );
    });

    test('A1, A5: an old receipt is stale everywhere, changes nothing, and the holder keeps the message', async () => {
      const queue = freshQueue();
      await send(queue, 'slow');
      const old = await receiveOne(transport, queue, { visibilityMs: 30 });
      const current = await receiveOne(transport, queue);
      assert.equal(await transport.ack(queue, old.receipt), 'stale');
      assert.equal(await transport.nack(queue, old.receipt, { delayMs: 0 }), 'stale');
      assert.equal(await transport.extend(queue, old.receipt, 0), 'stale');
      assert.equal(await transport.deadLetter(queue, old.receipt, 'no'), 'stale');
      assert.deepEqual(await transport.ackMany(queue, [old.receipt]), ['stale']);
      const counts = await transport.counts(queue);
      assert.deepEqual([counts.inFlight, counts.available, counts.dead], [1, 0, 0]);
      assert.deepEqual(await receiveNow(transport, queue), []);
      assert.equal(await transport.ack(queue, current.receipt), 'ok');
    });

    test('text that was never a receipt is stale, not an error', async () => {
      const queue = freshQueue();
      for (const receipt of ['', 'x', '1', '1.2.3', `${'9'.repeat(30)}.1`, NEVER_GIVEN_OUT]) {
        assert.equal(await transport.ack(queue, receipt), 'stale');
        assert.equal(await transport.extend(queue, receipt, 1_000), 'stale');
      }
    });

    test('ackMany answers in order, and stale ones do not hold up the others', async () => {
      const queue = freshQueue();
      await send(queue, 1, 2, 3);
      const receipts = (await receiveNow(transport, queue)).map((message) => message.receipt);
      const asked = [receipts[0], 'nonsense', receipts[1], receipts[0], receipts[2]];
      const answers = await transport.ackMany(
        queue,
        asked.filter((r) => r !== undefined),
      );
      assert.deepEqual(answers, ['ok', 'stale', 'ok', 'ok', 'ok']);
      assert.deepEqual(await transport.ackMany(queue, receipts), ['stale', 'stale', 'stale']);
      assert.deepEqual(await transport.ackMany(queue, []), []);
    });

    test('extend keeps a message hidden beyond its first visibility', async () => {
      const queue = freshQueue();
      await send(queue, 'long work');
      const message = await receiveOne(transport, queue, { visibilityMs: 200 });
      assert.equal(await transport.extend(queue, message.receipt, 60_000), 'ok');
      const again = await transport.receive(queue, { max: 1, visibilityMs: 0, waitMs: 400 });
      assert.deepEqual(again, []);
      assert.equal(await transport.ack(queue, message.receipt), 'ok');
    });

    test('A25: nack with delay 0 hands the message back at once, with its reason in the history', async () => {
      const queue = freshQueue();
      await send(queue, 'try again');
      const first = await receiveOne(transport, queue);
      assert.equal(await transport.nack(queue, first.receipt, { delayMs: 0, reason: '503' }), 'ok');
      assert.equal(await transport.ack(queue, first.receipt), 'stale');
      const [second] = await receiveNow(transport, queue);
      assert.equal(second?.receiveCount, 2);
      assert.deepEqual(
        second?.attempts.map((attempt) => attempt.outcome),
        ['503'],
      );
    });

    test('nack with a delay hides the message for that long', async () => {
      const queue = freshQueue();
      await send(queue, 'back off');
      const first = await receiveOne(transport, queue);
      await transport.nack(queue, first.receipt, { delayMs: 60_000 });
      assert.equal((await transport.counts(queue)).delayed, 1);
      assert.deepEqual(await receiveNow(transport, queue), []);
    });

    test('an uncounted nack costs no receive, however often it is repeated', async () => {
      const queue = freshQueue();
      await send(queue, 'not for this worker');
      for (let round = 0; round < 5; round += 1) {
        const message = await receiveOne(transport, queue);
        assert.equal(message.receiveCount, 1);
        await transport.nack(queue, message.receipt, { delayMs: 0, uncounted: true });
      }
    });

    test('A6: a message that is never acked is dead after its receives, with all of them in its history', async () => {
      const queue = freshQueue();
      const [id] = await transport.send(harness.db, queue, [{ body: 'poison', key: 'k' }]);
      for (let receive = 1; receive <= 3; receive += 1) {
        const message = await receiveOne(transport, queue, { visibilityMs: 20 });
        assert.equal(message.receiveCount, receive);
      }
      const fourth = await transport.receive(queue, { max: 1, visibilityMs: 20, waitMs: 500 });
      assert.deepEqual(fourth, []);
      const [dead, ...others] = await transport.deadMessages(queue);
      assert.deepEqual(others, []);
      assert.equal(dead?.messageId, id);
      assert.equal(dead?.key, 'k');
      assert.equal(dead?.receiveCount, 3);
      assert.match(dead?.reason ?? '', /received 3 times/);
      assert.equal(dead?.attempts.length, 3);
    });

    test('A7: a poison message first in line does not keep ten good ones from finishing', async () => {
      const queue = freshQueue();
      await send(queue, 'poison');
      await send(queue, ...Array.from({ length: 10 }, (_, n) => n));
      const done = new Set<unknown>();
      while (done.size < 10) {
        const message = await receiveOne(transport, queue, { visibilityMs: 200 });
        if (message.body === 'poison') continue;
        done.add(message.body);
        await transport.ack(queue, message.receipt);
      }
      assert.equal(done.size, 10);
    });

    test('deadLetter moves the message, and its consumer can do nothing more with it', async () => {
      const queue = freshQueue();
      const [id] = await send(queue, { unreadable: true });
      const message = await receiveOne(transport, queue);
      assert.equal(await transport.deadLetter(queue, message.receipt, 'cannot be read'), 'ok');
      assert.equal(await transport.ack(queue, message.receipt), 'stale');
      const [dead] = await transport.deadMessages(queue);
      assert.equal(dead?.messageId, id);
      assert.equal(dead?.reason, 'cannot be read');
      assert.equal(dead?.sentAt.getTime(), message.sentAt.getTime());
      assert.deepEqual(dead?.body, { unreadable: true });
      const counts = await transport.counts(queue);
      assert.deepEqual([counts.dead, counts.inFlight], [1, 0]);
    });

    test('A19: redrive gives a new message id and keeps the key and the history', async () => {
      const queue = freshQueue();
      await transport.send(harness.db, queue, [{ body: 'charge', key: 'order/7/charge' }]);
      const first = await receiveOne(transport, queue);
      await transport.deadLetter(queue, first.receipt, 'card network down');
      assert.equal(await transport.redrive(queue), 1);
      assert.equal(await transport.redrive(queue), 0);
      const [again] = await receiveNow(transport, queue);
      assert.notEqual(again?.messageId, first.messageId);
      assert.equal(again?.key, 'order/7/charge');
      assert.equal(again?.receiveCount, 1);
      assert.deepEqual(
        again?.attempts.map((attempt) => attempt.outcome),
        ['card network down', 'redriven'],
      );
      assert.equal(await transport.ack(queue, first.receipt), 'stale');
      assert.equal((await transport.counts(queue)).dead, 0);
    });

    test('redrive and discard take the named dead messages and leave the others', async () => {
      const queue = freshQueue();
      const ids = await send(queue, 'a', 'b', 'c');
      for (const message of await receiveNow(transport, queue)) {
        await transport.deadLetter(queue, message.receipt, 'down');
      }
      const [a = '', b = ''] = ids;
      assert.equal(await transport.redrive(queue, [a]), 1);
      assert.equal(await transport.discard(queue, [b, a]), 1);
      const left = await transport.deadMessages(queue);
      assert.deepEqual(
        left.map((dead) => dead.body),
        ['c'],
      );
    });

    test('dead messages come in pages', async () => {
      const queue = freshQueue();
      const ids = await send(queue, 1, 2, 3, 4, 5);
      for (const message of await receiveNow(transport, queue)) {
        await transport.deadLetter(queue, message.receipt, 'down');
      }
      const seen: string[] = [];
      for (;;) {
        const after = seen.at(-1);
        const page = await transport.deadMessages(queue, { limit: 2, ...(after && { after }) });
        if (page.length === 0) break;
        assert.ok(page.length <= 2);
        seen.push(...page.map((dead) => dead.messageId));
      }
      assert.deepEqual(seen, ids);
    });

    test('purge deletes everything but the dead letters; receipts from before are stale', async () => {
      const queue = freshQueue();
      await send(queue, 'dies', 'held', 'waits');
      const held = await receiveNow(transport, queue, 2);
      const [dies, survivor] = held;
      assert.ok(dies && survivor);
      await transport.deadLetter(queue, dies.receipt, 'down');
      await transport.send(harness.db, queue, [{ body: 'delayed', delayMs: 60_000 }]);
      assert.equal(await transport.purge(queue), 3);
      assert.equal(await transport.ack(queue, survivor.receipt), 'stale');
      const counts = await transport.counts(queue);
      assert.deepEqual(counts, {
        available: 0,
        inFlight: 0,
        delayed: 0,
        dead: 1,
        oldestAgeMs: null,
      });
    });

    test('counts tell available, in flight, delayed and dead apart, and the age of the oldest', async () => {
      const queue = freshQueue();
      assert.equal((await transport.counts(queue)).oldestAgeMs, null);
      await send(queue, 1, 2, 3, 4);
      const [one, two] = await receiveNow(transport, queue, 2);
      assert.ok(one && two);
      await transport.deadLetter(queue, one.receipt, 'down');
      await transport.nack(queue, two.receipt, { delayMs: 60_000 });
      await receiveNow(transport, queue, 1);
      const counts = await transport.counts(queue);
      assert.deepEqual(
        { ...counts, oldestAgeMs: 0 },
        {
          available: 1,
          inFlight: 1,
          delayed: 1,
          dead: 1,
          oldestAgeMs: 0,
        },
      );
      assert.ok(counts.oldestAgeMs !== null && counts.oldestAgeMs >= 0);
    });

    test('a waiting receive gets a message that is sent meanwhile', async () => {
      const queue = freshQueue();
      const waiting = receiveOne(transport, queue);
      await send(queue, 'news');
      assert.equal((await waiting).body, 'news');
    });

    test('ten receivers that wait share what comes, each message going to one of them', async () => {
      const queue = freshQueue();
      const waiting = Array.from({ length: 10 }, () => receiveOne(transport, queue));
      await send(queue, ...Array.from({ length: 10 }, (_, n) => n));
      const bodies = (await Promise.all(waiting)).map((message) => Number(message.body));
      assert.deepEqual(
        bodies.sort((a, b) => a - b),
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      );
    });

    test('A25: an aborted receive ends at once and claims nothing', async () => {
      const queue = freshQueue();
      const stopping = new AbortController();
      const { signal } = stopping;
      const waiting = transport.receive(queue, {
        max: 1,
        visibilityMs: 1_000,
        waitMs: 20_000,
        signal,
      });
      stopping.abort();
      assert.deepEqual(await waiting, []);
      await send(queue, 'for another worker');
      const late = await transport.receive(queue, {
        max: 1,
        visibilityMs: 1_000,
        waitMs: 0,
        signal,
      });
      assert.deepEqual(late, []);
      assert.equal((await transport.counts(queue)).available, 1);
    });

    test('A23, A24: delays that are negative, fractional, NaN or endless are refused and nothing is sent', async () => {
      const queue = freshQueue();
      for (const delayMs of [-1, 0.5, NaN, Infinity]) {
        await assert.rejects(
          transport.send(harness.db, queue, [{ body: 'ok' }, { body: 'x', delayMs }]),
          { name: 'LimitError', field: 'delayMs' },
        );
      }
      assert.equal((await transport.counts(queue)).available, 0);
    });
  });
}
