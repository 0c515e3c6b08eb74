import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { NotInStore } from '../../../core/agent/store.ts';
import type { ClaimCheckStore, Ref } from '../../../core/agent/store.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const later = () => new Date(Date.now() + 60_000);
const earlier = () => new Date(Date.now() - 60_000);

export interface OpenedStore {
  store: ClaimCheckStore;
  /** Another one on the same content, as another process has it. */
  again: () => Promise<ClaimCheckStore>;
  /** Makes content look as if it had been stored then. */
  age: (ref: Ref, storedAt: Date) => Promise<void>;
}

/** What every claim-check store promises, wherever it keeps things. */
export function storeContract(
  what: string,
  opened: (t: TestContext) => Promise<OpenedStore>,
): void {
  const refsBefore = async (store: ClaimCheckStore, before: Date) => {
    const refs: Ref[] = [];
    for await (const { ref } of store.storedBefore(before)) refs.push(ref);
    return refs.toSorted();
  };

  test(`${what}: content comes back as it was, also to another process`, async (t) => {
    const { store, again } = await opened(t);
    for (const content of [bytes('hello'), bytes(''), new Uint8Array(300_000).fill(7)]) {
      const ref = await store.put(content);
      assert.deepEqual(new Uint8Array(await (await again()).get(ref)), content);
    }
  });

  test(`${what}: content is named by its SHA-256, and the same content is stored once`, async (t) => {
    const { store } = await opened(t);
    const ref = await store.put(bytes('hello'));
    const hello = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
    assert.equal(ref, `sha256-${hello}`);
    const all = await Promise.all(Array.from({ length: 20 }, () => store.put(bytes('hello'))));
    assert.deepEqual(new Set(all), new Set([ref]));
    assert.deepEqual(await refsBefore(store, later()), [ref]);
    assert.equal((await store.get(ref)).length, 5);
  });

  test(`${what}: what is not there is an error of its own`, async (t) => {
    const { store } = await opened(t);
    await assert.rejects(store.get(`sha256-${'0'.repeat(64)}`), NotInStore);
  });

  test(`${what}: content that is too large is refused before any of it is written (B14)`, async (t) => {
    const { store } = await opened(t);
    const tooLarge = {
      name: 'RangeError',
      message: /^20000000 bytes are too many to store: at most/,
    };
    await assert.rejects(store.put(new Uint8Array(20_000_000)), tooLarge);
    assert.deepEqual(await refsBefore(store, later()), []);
  });

  test(`${what}: what was stored before a moment is listed with its size, and nothing newer`, async (t) => {
    const { store, age } = await opened(t);
    const old = await store.put(bytes('old'));
    await age(old, new Date('2026-01-01'));
    await store.put(bytes('new'));
    assert.deepEqual(await refsBefore(store, earlier()), [old]);
    assert.equal((await refsBefore(store, later())).length, 2);
    for await (const stored of store.storedBefore(earlier())) {
      assert.deepEqual(stored, { ref: old, bytes: 3, storedAt: new Date('2026-01-01') });
    }
  });

  test(`${what}: content is taken away once, and may be stored again`, async (t) => {
    const { store } = await opened(t);
    const ref = await store.put(bytes('old'));
    assert.equal(await store.remove(ref, later()), true);
    assert.equal(await store.remove(ref, later()), false);
    await assert.rejects(store.get(ref), NotInStore);
    assert.equal(await store.put(bytes('old')), ref);
    assert.equal((await store.get(ref)).length, 3);
  });

  test(`${what}: content that was stored again meanwhile stays`, async (t) => {
    const { store, age } = await opened(t);
    const ref = await store.put(bytes('old'));
    await age(ref, new Date('2026-01-01'));
    assert.deepEqual(await refsBefore(store, earlier()), [ref]);
    await store.put(bytes('old'));
    assert.deepEqual(await refsBefore(store, earlier()), []);
    assert.equal(await store.remove(ref, earlier()), false);
    assert.equal((await store.get(ref)).length, 3);
  });

  test(`${what}: what is stored again while it is taken away is there afterwards`, async (t) => {
    const { store, age } = await opened(t);
    for (let n = 0; n < 50; n++) {
      const content = bytes(`contended ${n}`);
      const ref = await store.put(content);
      await age(ref, new Date('2026-01-01'));
      await Promise.all([store.remove(ref, earlier()), store.put(content), store.put(content)]);
      assert.equal((await store.get(ref)).length, content.length);
    }
  });
}
