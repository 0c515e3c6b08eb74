import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  TargetError,
  describeTarget,
  isolatedEnv,
  maskUrl,
  resolveTarget,
  type Up,
} from '../../client/target.ts';

const dir = await mkdtemp(join(tmpdir(), 'q2t-target-test-'));
after(() => rm(dir, { recursive: true, force: true }));

const noUp = join(dir, 'no-up.json');
/** A home without a temporal.toml, so that the test reads nobody's. */
const home = { HOME: dir, XDG_CONFIG_HOME: dir };

const up: Up = {
  pid: process.pid,
  startedAt: '2026-11-29T10:00:00.000Z',
  temporalAddress: '127.0.0.1:20001',
  namespace: 'default',
  uiUrl: 'http://127.0.0.1:20002',
  databaseUrl: 'postgresql://postgres:local-secret@127.0.0.1:20003/q2t',
  partnersUrl: 'http://127.0.0.1:20004',
  taskQueue: 'orders',
  dataDir: '/tmp/data',
};

async function upFile(content: object): Promise<string> {
  const file = join(await mkdtemp(join(dir, 'up-')), 'up.json');
  await writeFile(file, JSON.stringify(content));
  return file;
}

async function configFile(toml: string): Promise<string> {
  const file = join(await mkdtemp(join(dir, 'config-')), 'temporal.toml');
  await writeFile(file, toml);
  return file;
}

test('with nothing named and nothing up the error says how to get a server', () => {
  assert.throws(() => resolveTarget(home, noUp), {
    name: 'TargetError',
    message: /`npm run up` in another terminal, or set TEMPORAL_ADDRESS/,
  });
});

test('a running up is the target', async () => {
  const target = resolveTarget(home, await upFile(up));
  assert.equal(target.source, 'npm run up');
  assert.deepEqual(target.temporal.options, { address: '127.0.0.1:20001' });
  assert.equal(target.databaseUrl, up.databaseUrl);
  assert.equal(target.partnersUrl, up.partnersUrl);
});

test('what a killed or unreadable up has left is no target', async () => {
  // No system hands out a pid this large.
  const stale = await upFile({ ...up, pid: 2 ** 31 - 2 });
  assert.throws(() => resolveTarget(home, stale), TargetError);
  const half = join(dir, 'half.json');
  await writeFile(half, '{"pid":1');
  assert.throws(() => resolveTarget(home, half), TargetError);
});

test('the environment wins over a running up, part by part', async () => {
  const env = {
    ...home,
    TEMPORAL_ADDRESS: 'temporal.example.com:7233',
    TEMPORAL_NAMESPACE: 'purchasing',
    DATABASE_URL: 'postgres://me:pw@db.example.com/orders',
  };
  const target = resolveTarget(env, await upFile({ ...up, taskQueue: 'local' }));
  assert.equal(target.source, 'environment');
  assert.equal(target.temporal.address, 'temporal.example.com:7233');
  assert.equal(target.temporal.namespace, 'purchasing');
  assert.equal(target.databaseUrl, env.DATABASE_URL);
  assert.equal(target.partnersUrl, up.partnersUrl);
  // The task queue belongs to the server it was found with.
  assert.equal(target.taskQueue, 'orders');
});

test('TLS, API key and the profiles of temporal.toml are read as every Temporal tool reads them', async () => {
  const file = await configFile(`
[profile.default]
address = "from-file:7233"
namespace = "file-space"
[profile.cloud]
address = "cloud.example.com:7233"
api_key = "top-secret"
[profile.tls.tls]
server_name = "inside"
[profile.tls]
address = "tls.example.com:7233"
`);
  const env = { ...home, TEMPORAL_CONFIG_FILE: file };
  const plain = resolveTarget(env, noUp);
  assert.equal(plain.source, 'configuration file');
  assert.equal(plain.temporal.namespace, 'file-space');
  const cloud = resolveTarget({ ...env, TEMPORAL_PROFILE: 'cloud' }, noUp);
  assert.equal(cloud.temporal.options.apiKey, 'top-secret');
  // An API key never travels in clear text.
  assert.equal(cloud.temporal.options.tls, true);
  const tls = resolveTarget({ ...env, TEMPORAL_PROFILE: 'tls' }, noUp).temporal.options.tls;
  assert(typeof tls === 'object' && tls?.serverNameOverride === 'inside');
});

test('settings that can not be used are refused by name', async () => {
  const database = { ...home, DATABASE_URL: 'mysql://root:hunter2@db/x' };
  assert.throws(
    () => resolveTarget(database, noUp),
    (error: Error) =>
      /^DATABASE_URL must be .*postgres:/.test(error.message) && !/hunter2/.test(error.message),
  );
  assert.throws(() => resolveTarget({ ...home, PARTNERS_URL: 'localhost:3000' }, noUp), {
    message: /^PARTNERS_URL must be a URL that begins with http:/,
  });
  const missing = { ...home, TEMPORAL_PROFILE: 'nobody' };
  assert.throws(() => resolveTarget(missing, noUp), { message: /Profile 'nobody' not found/ });
  const empty = { ...home, TEMPORAL_CONFIG_FILE: await configFile('') };
  assert.throws(() => resolveTarget(empty, noUp), { message: /temporal.toml has no \[profile/ });
});

test('an empty variable is one that is not set', async () => {
  const env = { ...home, TEMPORAL_ADDRESS: '', TEMPORAL_PROFILE: '', DATABASE_URL: '' };
  assert.equal(resolveTarget(env, await upFile(up)).source, 'npm run up');
});

test('the description names everything but the secrets', () => {
  const env = {
    ...home,
    TEMPORAL_ADDRESS: 'temporal.example.com:7233',
    TEMPORAL_API_KEY: 'key-secret',
    DATABASE_URL: 'postgres://me:db-secret@db.example.com/orders?sslpassword=ssl-secret',
    PARTNERS_URL: 'https://user:partner-secret@partners.example.com/',
  };
  const text = describeTarget(resolveTarget(env, noUp));
  assert.doesNotMatch(text, /secret/);
  assert.match(text, /Temporal temporal\.example\.com:7233 namespace default \(API key, TLS\)/);
  assert.match(text, /postgres:\/\/me:\*\*\*@db\.example\.com\/orders/);
  assert.match(text, /from environment$/);
});

test('what is no URL is masked as a whole', () => {
  assert.equal(maskUrl('host=db password=secret'), '***');
});

test('an isolated environment knows nothing of the user’s own servers', () => {
  const base = {
    PATH: '/bin',
    ...home,
    TEMPORAL_ADDRESS: 'prod:7233',
    TEMPORAL_API_KEY: 'secret',
    TEMPORAL_GRPC_META_X: 'y',
    DATABASE_URL: 'postgres://prod',
    PARTNERS_URL: 'https://prod',
    PGHOST: 'prod',
    PGSSLMODE: 'require',
    Q2T_TASK_QUEUE: 'mine',
    Q2T_TEST_TEMPORAL: '127.0.0.1:1',
  };
  const { TEMPORAL_CONFIG_FILE, ...rest } = isolatedEnv(base);
  assert.deepEqual(rest, { PATH: '/bin', ...home, Q2T_TEST_TEMPORAL: '127.0.0.1:1' });
  assert(TEMPORAL_CONFIG_FILE !== undefined);
});

test('an isolated environment hides the user’s own temporal.toml', async () => {
  const file = await configFile('[profile.default]\naddress = "prod:7233"\n');
  const env = isolatedEnv({ ...home, TEMPORAL_CONFIG_FILE: file });
  assert.throws(() => resolveTarget(env, noUp), TargetError);
});
