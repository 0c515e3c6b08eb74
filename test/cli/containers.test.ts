import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { ensureTemporal } from '../../stack/temporal-binary.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';

// What docker-compose.yml runs inside Temporal's image and ours, here without the containers.
const namespaceScript = fileURLToPath(
  new URL('../../docker/temporal-namespace.sh', import.meta.url),
);
const healthCheck = fileURLToPath(new URL('../../docker/worker-health.ts', import.meta.url));

let bench: OrderBench;
/** Holds the CLI under the name that the scripts call. */
let tools: string;

before(async () => {
  bench = await openBench();
  tools = await mkdtemp(join(tmpdir(), 'q2t-tools-'));
  await symlink((await ensureTemporal()).path, join(tools, 'temporal'));
});

after(async () => {
  await bench.close();
  await rm(tools, { recursive: true, force: true });
});

function run(file: string, args: string[], env: Record<string, string>) {
  const PATH = [tools, process.env['PATH']].join(delimiter);
  return execa(file, args, {
    env: { ...isolatedEnv(process.env), PATH, TEMPORAL_ADDRESS: bench.address, ...env },
    extendEnv: false,
    reject: false,
    timeout: 120_000,
    all: true,
  });
}

test('the namespace script makes namespace and search attributes, once and again', async () => {
  const env = { TEMPORAL_NAMESPACE: `compose-${randomBytes(6).toString('hex')}` };
  const first = await run('sh', [namespaceScript], env);
  assert.equal(first.exitCode, 0, first.all);
  const second = await run('sh', [namespaceScript], env);
  assert.equal(second.exitCode, 0, second.all);
  const list = ['operator', 'search-attribute', 'list', '--namespace', env.TEMPORAL_NAMESPACE];
  const { stdout } = await run('temporal', list, env);
  for (const { name } of searchAttributes) assert.match(stdout, new RegExp(`\\b${name} `));
});

test('the namespace script refuses an attribute that exists with another type', async () => {
  const env = { TEMPORAL_NAMESPACE: `compose-${randomBytes(6).toString('hex')}` };
  const namespace = ['--namespace', env.TEMPORAL_NAMESPACE];
  await run('temporal', ['operator', 'namespace', 'create', ...namespace], env);
  const create = ['operator', 'search-attribute', 'create', '--name', 'OrderRef', '--type', 'Int'];
  // The server knows a new namespace a moment later in some of its parts than in others.
  for (let tries = 0; tries < 100; tries++) {
    if ((await run('temporal', [...create, ...namespace], env)).exitCode === 0) break;
  }
  const { exitCode, all } = await run('sh', [namespaceScript], env);
  assert.equal(exitCode, 1, all);
  assert.match(all, /OrderRef is Int, not Keyword/);
});

test('a worker that polls is healthy, and a host without one is not', async () => {
  const check = (taskQueue: string) => {
    return run(process.execPath, [healthCheck], { Q2T_TASK_QUEUE: taskQueue });
  };
  const polling = await check(bench.taskQueue);
  assert.equal(polling.exitCode, 0, polling.all);
  const nobody = await check(`${bench.taskQueue}-nobody`);
  assert.equal(nobody.exitCode, 1);
  assert.match(nobody.stdout, /not polling/);
});
