import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { collect } from '../../../agent/store/collect.ts';
import { openFileStore } from '../../../agent/store/files.ts';
import { NotInStore } from '../../../core/agent/store.ts';
import type { ClaimCheckStore, Ref } from '../../../core/agent/store.ts';
import { readEntries, writeEntry } from '../../../core/agent/transcript.ts';
import type { Entry } from '../../../core/agent/transcript.ts';
import { storeContract } from './store-contract.ts';

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'q2t-store-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

const fileOf = (folder: string, ref: Ref) => join(folder, ref.slice(7, 9), ref);

storeContract('files', async (t) => {
  const folder = await newFolder(t);
  return {
    store: await openFileStore(folder),
    again: () => openFileStore(folder),
    age: (ref, at) => utimes(fileOf(folder, ref), at, at),
  };
});

const text = (content: string) => new TextEncoder().encode(content);

test('a file that was damaged is not handed out', async (t) => {
  const folder = await newFolder(t);
  const store = await openFileStore(folder);
  const ref = await store.put(text('hello'));
  await writeFile(fileOf(folder, ref), 'hullo');
  await assert.rejects(store.get(ref), (error) => {
    return error instanceof NotInStore && /damaged/.test(error.message);
  });
});

test('what a crash left half written goes away after a day, and is never handed out', async (t) => {
  const folder = await newFolder(t);
  await openFileStore(folder);
  const [old, fresh] = [join(folder, 'writing', 'old'), join(folder, 'writing', 'fresh')];
  await writeFile(old, 'half');
  await utimes(old, new Date('2026-01-01'), new Date('2026-01-01'));
  await writeFile(fresh, 'half');
  const store = await openFileStore(folder);
  assert.deepEqual(await readdir(join(folder, 'writing')), ['fresh']);
  for await (const stored of store.storedBefore(new Date(Date.now() + 60_000))) {
    assert.fail(`lists ${stored.ref}`);
  }
});

test('a process that dies while it stores leaves whole files only', async (t) => {
  const folder = await newFolder(t);
  const files = new URL('../../../agent/store/files.ts', import.meta.url).href;
  const script = `
    import { openFileStore } from ${JSON.stringify(files)};
    const store = await openFileStore(${JSON.stringify(folder)});
    for (let n = 0; ; n++) {
      await Promise.all([1, 2, 3].map((k) => store.put(new Uint8Array(200_000).fill(n * 3 + k))));
      if (n === 3) console.log('busy');
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  const ended = new Promise((resolve) => child.once('close', resolve));
  t.after(() => child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await ended;
  const store = await openFileStore(folder);
  let whole = 0;
  for await (const { ref, bytes } of store.storedBefore(new Date(Date.now() + 60_000))) {
    assert.equal((await store.get(ref)).length, bytes);
    whole += 1;
  }
  assert.ok(whole >= 12);
});

const answer: Entry['answer'] = { role: 'assistant', content: 'well', calls: [] };

/** A transcript of so many turns, each with a result in the store. */
async function transcript(store: ClaimCheckStore, turns: number): Promise<Ref | undefined> {
  let head: Ref | undefined;
  for (let turn = 1; turn <= turns; turn++) {
    const ref = await store.put(text(`result ${turn} of ${turns}`));
    const notes: Entry['notes'] = [{ role: 'tool', callId: 'a', ref, size: 20 }];
    head = await writeEntry(store, { turn, previous: head ?? null, notes, answer });
  }
  return head;
}

test('a transcript is read from its newest entry, all of it or its last turns', async (t) => {
  const store = await openFileStore(await newFolder(t));
  const head = await transcript(store, 5);
  const turns = async (count?: number) =>
    (await readEntries(store, head, count)).map(({ turn }) => turn);
  assert.deepEqual(await turns(), [1, 2, 3, 4, 5]);
  assert.deepEqual(await turns(2), [4, 5]);
  assert.deepEqual(await readEntries(store, undefined), []);
});

test('what no run names is collected when it is old enough, and nothing else', async (t) => {
  const folder = await newFolder(t);
  const store = await openFileStore(folder);
  const head = await transcript(store, 3);
  const pending = await store.put(text('a result that the next turn will tell'));
  const orphan = await store.put(text('an answer whose worker died before its checkpoint'));
  const abandoned = await transcript(store, 2);
  assert.ok(head && abandoned);
  const fresh = await store.put(text('just stored, named by nobody yet'));
  const old = new Date(Date.now() - 3_600_000);
  for await (const { ref } of store.storedBefore(new Date(Date.now() + 60_000))) {
    if (ref !== fresh) await utimes(fileOf(folder, ref), old, old);
  }
  const notes: Entry['notes'] = [{ role: 'tool', callId: 'p', ref: pending, size: 40 }];
  const runs = [{ head, notes }, { notes: [] }];
  const before = new Date(Date.now() - 60_000);
  const { taken, bytes } = await collect(store, runs, before);
  assert.equal(taken, 5);
  assert.ok(bytes > 100, `${bytes} bytes`);
  assert.equal((await readEntries(store, head)).length, 3);
  assert.ok(await store.get(pending));
  assert.ok(await store.get(fresh));
  await assert.rejects(store.get(orphan), NotInStore);
  await assert.rejects(store.get(abandoned), NotInStore);
  assert.deepEqual(await collect(store, runs, before), { taken: 0, bytes: 0 });
});

test('nothing is collected when a run names what is not there', async (t) => {
  const store = await openFileStore(await newFolder(t));
  const orphan = await store.put(text('orphan'));
  const lost = { head: `sha256-${'1'.repeat(64)}` as const, notes: [] };
  await assert.rejects(collect(store, [lost], new Date(Date.now() + 60_000)), NotInStore);
  assert.ok(await store.get(orphan));
});
