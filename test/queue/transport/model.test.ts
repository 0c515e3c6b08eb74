import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pool } from 'pg';
import type { Transport } from '../../../queue/transport/contract.ts';
import { openFresh } from './support.ts';

const MAX_RECEIVES = 3;

type State = 'available' | 'held' | 'delayed';
interface ModelMessage {
  key: string;
  state: State;
  receives: number;
  /** Only while a delivery is the current one; it stays so after its visibility ran out. */
  receipt: string | undefined;
}

/** What a transport should be: a bag of messages, and nothing else. Time moves by command only. */
class Model {
  readonly live = new Map<string, ModelMessage>();
  readonly dead = new Set<string>();
  /** Every receipt ever given out, with its message's key: old ones stay stale for ever. */
  readonly receipts: { receipt: string; key: string }[] = [];
  sent = 0;

  holder(receipt: string): ModelMessage | undefined {
    return [...this.live.values()].find((message) => message.receipt === receipt);
  }

  count(state: State): number {
    return [...this.live.values()].filter((message) => message.state === state).length;
  }
}

interface Real {
  pool: Pool;
  transport: Transport;
  queue: string;
}

type Command = fc.AsyncCommand<Model, Real>;

function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    async run(model, real) {
      await run(model, real);
      await agree(model, real);
    },
    toString: () => name,
  };
}

async function agree(model: Model, { transport, queue }: Real): Promise<void> {
  const counts = await transport.counts(queue);
  assert.deepEqual(
    { ...counts, oldestAgeMs: null },
    {
      available: model.count('available'),
      inFlight: model.count('held'),
      delayed: model.count('delayed'),
      dead: model.dead.size,
      oldestAgeMs: null,
    },
  );
}

const sendCommand = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }).map((delayed) =>
  command(
    `send ${delayed.map((late) => (late ? 'delayed' : 'now')).join()}`,
    async (model, real) => {
      const keys = delayed.map(() => `k${(model.sent += 1)}`);
      const messages = keys.map((key, n) => ({
        body: { key },
        key,
        delayMs: delayed[n] === true ? 3_600_000 : 0,
      }));
      await real.transport.send(real.pool, real.queue, messages);
      keys.forEach((key, n) => {
        const state = delayed[n] === true ? 'delayed' : 'available';
        model.live.set(key, { key, state, receives: 0, receipt: undefined });
      });
    },
  ),
);

const receiveCommand = fc.integer({ min: 1, max: 5 }).map((max) =>
  command(`receive ${max}`, async (model, { transport, queue }) => {
    const available = model.count('available');
    const got = await transport.receive(queue, { max, visibilityMs: 3_600_000, waitMs: 0 });
    const spent = [...model.live.values()].filter(
      (message) => message.state === 'available' && message.receives === MAX_RECEIVES,
    );
    // Which ones come is the queue's choice; that none is held, delayed or dead is not.
    for (const message of got) {
      const known = model.live.get(message.key ?? '');
      assert.equal(known?.state, 'available');
      assert.ok(known.receives < MAX_RECEIVES);
      assert.equal(message.receiveCount, known.receives + 1);
      assert.ok(model.receipts.every(({ receipt }) => receipt !== message.receipt));
      Object.assign(known, {
        state: 'held',
        receives: known.receives + 1,
        receipt: message.receipt,
      });
      model.receipts.push({ receipt: message.receipt, key: known.key });
    }
    const buried = (await transport.deadMessages(queue)).filter(
      (dead) => !model.dead.has(dead.key ?? ''),
    );
    for (const dead of buried) {
      assert.ok(spent.some((message) => message.key === dead.key));
      assert.equal(dead.receiveCount, MAX_RECEIVES);
      model.live.delete(dead.key ?? '');
      model.dead.add(dead.key ?? '');
    }
    if (available > 0) assert.ok(got.length + buried.length >= Math.min(max, available));
  }),
);

/** An index into all receipts ever given out: most of them are stale by then. */
const anyReceipt = fc.nat({ max: 30 });

function withReceipt(
  name: string,
  act: (real: Real, receipt: string) => Promise<string>,
  effect: (model: Model, held: ModelMessage) => void,
) {
  return anyReceipt.map((index) =>
    command(`${name} #${index}`, async (model, real) => {
      const entry = model.receipts[index % Math.max(1, model.receipts.length)];
      if (entry === undefined) return;
      const held = model.holder(entry.receipt);
      assert.equal(await act(real, entry.receipt), held === undefined ? 'stale' : 'ok');
      if (held !== undefined) effect(model, held);
    }),
  );
}

const ackCommand = withReceipt(
  'ack',
  ({ transport, queue }, receipt) => transport.ack(queue, receipt),
  (model, held) => model.live.delete(held.key),
);

const nackCommand = withReceipt(
  'nack',
  ({ transport, queue }, receipt) => transport.nack(queue, receipt, { delayMs: 0 }),
  (_, held) => Object.assign(held, { state: 'available', receipt: undefined }),
);

const uncountedNackCommand = withReceipt(
  'nack uncounted, delayed',
  ({ transport, queue }, receipt) =>
    transport.nack(queue, receipt, { delayMs: 3_600_000, uncounted: true }),
  (_, held) =>
    Object.assign(held, { state: 'delayed', receipt: undefined, receives: held.receives - 1 }),
);

const extendCommand = withReceipt(
  'extend',
  ({ transport, queue }, receipt) => transport.extend(queue, receipt, 3_600_000),
  (_, held) => Object.assign(held, { state: 'held' }),
);

const deadLetterCommand = withReceipt(
  'dead-letter',
  ({ transport, queue }, receipt) => transport.deadLetter(queue, receipt, 'given up'),
  (model, held) => {
    model.live.delete(held.key);
    model.dead.add(held.key);
  },
);

/** An hour passes: what was hidden or delayed is due. The rows are shifted, no clock is. */
const hourPasses = fc.constant(
  command('an hour passes', async (model, { pool, queue }) => {
    await pool.query(
      `UPDATE queue.message SET visible_at = visible_at - interval '61 minutes' WHERE queue = $1`,
      [queue],
    );
    for (const message of model.live.values()) message.state = 'available';
  }),
);

const redriveCommand = fc.constant(
  command('redrive', async (model, { transport, queue }) => {
    assert.equal(await transport.redrive(queue), model.dead.size);
    for (const key of model.dead) {
      model.live.set(key, { key, state: 'available', receives: 0, receipt: undefined });
    }
    model.dead.clear();
  }),
);

const purgeCommand = fc.constant(
  command('purge', async (model, { transport, queue }) => {
    assert.equal(await transport.purge(queue), model.live.size);
    model.live.clear();
  }),
);

test('any sequence of commands does to the transport what it does to a simple model of one', async (t) => {
  const { pool, transport } = await openFresh(t, { maxReceives: MAX_RECEIVES });
  let queues = 0;
  const commands = fc.commands(
    [
      sendCommand,
      receiveCommand,
      receiveCommand,
      receiveCommand,
      ackCommand,
      nackCommand,
      uncountedNackCommand,
      extendCommand,
      deadLetterCommand,
      hourPasses,
      hourPasses,
      redriveCommand,
      purgeCommand,
    ],
    { maxCommands: 40, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const real = { pool, transport, queue: `model-${(queues += 1)}` };
      await fc.asyncModelRun(() => ({ model: new Model(), real }), sequence);
    }),
    { numRuns: 25 },
  );
});
