import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { execa } from 'execa';
import { identityOf, isAlive, takeLock, tryLock } from '../../../stack/lock.mjs';
import { tempDir } from './temp-dir.ts';

const lockModule = new URL('../../../stack/lock.mjs', import.meta.url).href;

test('a process is itself, and a dead one is nobody', async () => {
  const mine = identityOf(process.pid);
  assert(isAlive(process.pid, mine));
  const child = spawn('sleep', ['60']);
  const pid = child.pid ?? 0;
  const identity = identityOf(pid);
  assert(identity !== undefined && identity !== mine);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(isAlive(pid, identity), false);
});

test('a recycled pid is not the process that had it before', () => {
  assert.equal(isAlive(process.pid, `${process.pid}:1:another-boot`), false);
});

test('a lock has one holder, and names it to the others', async (t) => {
  const file = join(await tempDir(t), 'lock');
  const { release } = tryLock(file);
  assert(release);
  const second = tryLock(file);
  assert.equal(second.holder?.pid, process.pid);
  release();
  const third = tryLock(file);
  assert(third.release);
  // The first holder's late second release must not open the lock of the third.
  release();
  assert.equal(tryLock(file).holder?.pid, process.pid);
  third.release();
});

test('a lock whose holder was killed is taken over', async (t) => {
  const dir = await tempDir(t);
  const file = join(dir, 'lock');
  const hold = `const { tryLock } = await import(process.argv[1]);
    tryLock(process.argv[2]); process.kill(process.pid, 'SIGKILL');`;
  await execa(process.execPath, ['--input-type=module', '-e', hold, lockModule, file], {
    reject: false,
  });
  assert.match(await readFile(file, 'utf8'), /"pid"/);
  const lock = tryLock(file);
  assert(lock.release);
  lock.release();
  assert.deepEqual(await readdir(dir), []);
});

test('an unreadable lock is taken over', async (t) => {
  const file = join(await tempDir(t), 'lock');
  await writeFile(file, '');
  const release = await takeLock(file);
  release();
});

test('of many processes that find the same stale lock, one at a time holds it', async (t) => {
  const dir = await tempDir(t);
  const file = join(dir, 'lock');
  await writeFile(file, JSON.stringify({ pid: 4_000_000, identity: '4000000:1:x', since: 'then' }));
  // Each counts by reading and writing with a pause between: a lost update shows two holders.
  const count = `const { takeLock } = await import(process.argv[1]);
    const { readFileSync, writeFileSync } = await import('node:fs');
    const { setTimeout } = await import('node:timers/promises');
    const release = await takeLock(process.argv[2]);
    const seen = Number(readFileSync(process.argv[3], 'utf8'));
    await setTimeout(5);
    writeFileSync(process.argv[3], String(seen + 1));
    release();`;
  const counter = join(dir, 'counter');
  await writeFile(counter, '0');
  const workers = Array.from({ length: 8 }, () =>
    execa(process.execPath, ['--input-type=module', '-e', count, lockModule, file, counter]),
  );
  await Promise.all(workers);
  assert.equal(await readFile(counter, 'utf8'), '8');
});
