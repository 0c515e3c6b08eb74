import assert from 'node:assert/strict';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Pipeline } from '../../../core/contract.ts';
import { orderIdOf } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import { openChain } from '../../../queue/open.ts';
import { anOrder, quickPolicy } from '../../support/orders.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { idleEngine } from '../support/engine.ts';
import type { IdleEngine } from '../support/engine.ts';
import { until } from '../../support/until.ts';

const WORKER = fileURLToPath(new URL('../../../workers/chain.ts', import.meta.url));

describe('the chain', () => {
  let bench: QueueBench;
  let idle: IdleEngine;
  let chain: Pipeline;
  const kills = new Set<() => Promise<void>>();
  before(async () => {
    bench = await openBench({ workers: 0 });
    idle = await idleEngine(bench);
    chain = await openChain(bench);
  });
  afterEach(async () => {
    for (const kill of kills) await kill();
    await bench.partners.clearFault();
  });
  after(async () => {
    await chain.close();
    await idle.close();
    await bench.close();
  });

  async function startWorker(): Promise<() => Promise<void>> {
    const child = spawn(process.execPath, [WORKER], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: bench.databaseUrl,
        PARTNERS_URL: bench.partnersUrl,
        Q2T_VISIBILITY_MS: '3000',
      },
    });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        if (line.includes('"ready"')) resolve();
      });
    });
    const kill = async () => {
      kills.delete(kill);
      child.kill('SIGKILL');
      await exited;
    };
    kills.add(kill);
    return kill;
  }
  const refOf = (order: Order) => `${order.buyer.id}/${order.orderRef}`;
  const counts = (order: Order) => bench.partners.counts(refOf(order));
  const submit = (order: Order) => chain.submit(order, quickPolicy);
  const drained = () =>
    until('the chain is empty', async () => {
      const { available, inFlight, delayed } = await idle.engine.transport.counts('chain');
      return available + inFlight + delayed === 0;
    });

  test('carries a plain order to its end, each effect once', async () => {
    const order = anOrder();
    await startWorker();
    await submit(order);
    await drained();
    const { charge, enquiry, reservation, order: placed, mail } = await counts(order);
    assert.deepEqual([charge, enquiry, reservation, placed, mail], [1, 1, 1, 1, 1]);
  });

  test('takes back what it did when a partner says no', async () => {
    const order = anOrder({ buyerId: 'declined-1' });
    await startWorker();
    await submit(order);
    await drained();
    const { reservation, release, charge } = await counts(order);
    assert.deepEqual([reservation, release, charge], [1, 1, 0]);
  });

  test('breaks where a partner takes no key: a worker killed after the supplier acted places the order twice', async () => {
    const order = anOrder();
    const spec = { partner: 'supplier', operation: 'place', reference: refOf(order) } as const;
    await bench.partners.setFault({ ...spec, times: 1, effect: { kind: 'hang-after' } });
    const kill = await startWorker();
    await submit(order);
    await bench.partners.waitUntilHeld({ reference: refOf(order) }, 30_000);
    await kill();
    await bench.partners.release();
    await startWorker();
    await drained();
    const { charge, order: placed } = await counts(order);
    assert.deepEqual([charge, placed], [1, 2]);
  });

  test('breaks at keys that have expired: redriven a day later it charges twice', async () => {
    const order = anOrder();
    const spec = { partner: 'payments', operation: 'charge', reference: refOf(order) } as const;
    await bench.partners.setFault({ ...spec, effect: { kind: 'drop-after' } });
    await startWorker();
    await submit(order);
    await drained();
    assert.equal((await counts(order)).charge, 1);
    await bench.partners.clearFault();
    await bench.partners.advanceClock(25 * 3_600_000);
    assert.equal(await idle.engine.transport.redrive('chain'), 1);
    await drained();
    assert.equal((await counts(order)).charge, 2);
  });

  test('cannot wait for a person: an order above the limit is a dead letter', async () => {
    const order = anOrder({ unitPrice: '2000.00' });
    await startWorker();
    await submit(order);
    await drained();
    const dead = await idle.engine.transport.deadMessages('chain');
    assert.match(dead.at(-1)?.reason ?? '', /nowhere to wait for a person/);
    // Nothing remembers that the stock is held for it.
    const { reservation, release } = await counts(order);
    assert.deepEqual({ reservation, release }, { reservation: 1, release: 0 });
  });

  test('says what it cannot do, and why', async () => {
    const id = orderIdOf(anOrder());
    const answer = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'ada' } as const;
    const said = [
      await chain.where(id),
      await chain.decide(id, answer),
      await chain.cancel(id, 'ada', 'x'),
      await chain.list(),
      await chain.deadLetters.list(),
    ];
    for (const one of said) assert.ok(one.kind === 'cannot' && one.reason.length > 20);
  });
});
