import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Waiters } from '../../../queue/transport/waiters.ts';

const patient = { leftMs: 600_000, dueMs: null, signal: undefined };

test('a hint that comes between a look and the wait for the next is not lost', async () => {
  const waiters = new Waiters(() => 600_000);
  const seen = waiters.generation('orders');
  waiters.hint('orders');
  await waiters.wait('orders', { ...patient, seen });
  waiters.close();
});

test('a hint wakes one of those who wait, and each further wake the next', async () => {
  const waiters = new Waiters(() => 600_000);
  const woken: number[] = [];
  const seen = waiters.generation('orders');
  const all = [1, 2, 3].map((n) =>
    waiters.wait('orders', { ...patient, seen }).then(() => woken.push(n)),
  );
  waiters.hint('orders');
  await all[0];
  assert.deepEqual(woken, [1]);
  waiters.wakeOne('orders');
  await all[1];
  assert.deepEqual(woken, [1, 2]);
  waiters.close();
  await Promise.all(all);
  assert.deepEqual(woken, [1, 2, 3]);
});

test('those who wait poll together: one look per interval, however many there are', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waiters = new Waiters(() => 1_000);
  let looks = 0;
  const waitAgain = async (): Promise<void> => {
    const seen = waiters.generation('orders');
    await waiters.wait('orders', { ...patient, seen });
    if (waiters.closed) return;
    looks += 1;
    await waitAgain();
  };
  const all = Array.from({ length: 30 }, waitAgain);
  for (let interval = 0; interval < 5; interval += 1) {
    t.mock.timers.tick(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(looks, 5);
  waiters.close();
  await Promise.all(all);
});

test('a poll comes as early as the next message is due', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waiters = new Waiters(() => 1_000);
  let woken = false;
  const wait = waiters
    .wait('orders', { ...patient, seen: 0, dueMs: 40.2 })
    .then(() => (woken = true));
  t.mock.timers.tick(40);
  await Promise.resolve();
  assert.equal(woken, false);
  t.mock.timers.tick(1);
  await wait;
  waiters.close();
});

test('a waiter whose look fails does not take the polls of the others with it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waiters = new Waiters(() => 1_000);
  const failing = waiters.wait('orders', { ...patient, seen: 0 });
  const other = waiters.wait('orders', { ...patient, seen: 0 });
  t.mock.timers.tick(1_000);
  // Its look throws: it never comes back to wait.
  await failing;
  t.mock.timers.tick(1_000);
  await other;
  waiters.close();
});
