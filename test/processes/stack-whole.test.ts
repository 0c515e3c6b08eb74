import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { startStack } from '../../stack/stack.ts';
import { tempDir } from '../unit/stack/temp-dir.ts';

test('a stack of some parts has those, says which it has not, and leaves no folder', async (t) => {
  const said: string[] = [];
  const stack = await startStack({
    parts: ['postgres', 'partners'],
    onProgress: (line) => said.push(line),
  });
  t.after(() => stack.stop());
  assert.deepEqual(said.sort(), ['Starting Postgres', 'Starting the partners']);
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  assert.deepEqual((await client.query('SELECT 1 AS one')).rows, [{ one: 1 }]);
  await client.end();
  assert.equal((await fetch(new URL('/health', stack.partnersUrl))).status, 200);
  assert.throws(() => stack.temporal, /this stack has no Temporal server/);
  assert.equal(stack.uiUrl, undefined);

  // A second stack on the same folder would stop the first one's Postgres.
  await assert.rejects(
    startStack({ parts: ['postgres'], dataDir: stack.dataDir }),
    new RegExp(`is in use by process ${process.pid} since`),
  );
  await stack.partners.kill();
  await stack.partners.start();
  assert.equal((await fetch(new URL('/health', stack.partnersUrl))).status, 200);
  const { dataDir } = stack;
  await stack.stop();
  assert.equal(existsSync(dataDir), false);
});

test('when one part fails to start, the others that had started are stopped', async (t) => {
  const dataDir = await tempDir(t);
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  t.after(() => squatter.close());
  const address = squatter.address();
  assert(typeof address === 'object' && address !== null);
  const parts = ['postgres', 'temporal', 'partners'] as const;
  await assert.rejects(
    startStack({ parts, dataDir, ports: { postgres: address.port } }),
    /postgres did not start: .*Address already in use/s,
  );
  assert.deepEqual(await readdir(join(dataDir, 'run')), []);
  assert.equal(existsSync(join(dataDir, 'lock')), false);
});

test('servers of somebody’s own are used and not started, and one that is not there is an error that names it', async (t) => {
  const nowhere = 'postgresql://me:secret@127.0.0.1:1/orders';
  await assert.rejects(
    startStack({ parts: [], external: { databaseUrl: nowhere } }),
    (error: Error) => {
      assert.match(
        error.message,
        /Postgres can't be used at 127\.0\.0\.1:1\/orders: .*ECONNREFUSED/,
      );
      assert.doesNotMatch(error.message, /secret/);
      return true;
    },
  );
  const temporal = { address: '127.0.0.1:1', namespace: 'default' };
  await assert.rejects(
    startStack({ parts: [], external: { temporal } }),
    /Temporal can't be reached at 127\.0\.0\.1:1/,
  );
  const own = await startStack({ parts: ['postgres', 'temporal'] });
  t.after(() => own.stop());
  const user = await startStack({
    parts: ['postgres', 'temporal', 'partners'],
    external: { databaseUrl: own.databaseUrl, temporal: own.temporal },
  });
  t.after(() => user.stop());
  assert.equal(user.databaseUrl, own.databaseUrl);
  assert.equal(user.temporal.address, own.temporal.address);
  assert.throws(() => user.postgres, /no Postgres of its own/);
  assert.throws(() => user.temporalServer, /no Temporal server of its own/);
});
