import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { TargetError, ownParts } from '../../client/own-parts.ts';
import { describeTarget, isPlainUp, maskUrl } from '../../client/target.ts';
import { configFile, home, temporalTarget, up, upFile } from './client-target-places.ts';

test('with nothing named and nothing up the error says how to get a server', () => {
  assert.throws(() => temporalTarget(home), {
    name: 'TargetError',
    message: /`npm run up` in another terminal, or set TEMPORAL_ADDRESS/,
  });
});

test('a running up is the target', async () => {
  const target = temporalTarget(home, await upFile(up));
  assert.equal(isPlainUp(target), true);
  assert.equal(target.taskQueue, 'local');
  assert.deepEqual(target.temporal.options, { address: '127.0.0.1:20001' });
});

test('what a killed or unreadable up has left is no target', async () => {
  // No system hands out a pid this large.
  const stale = await upFile({ ...up, pid: 2 ** 31 - 2 });
  assert.throws(() => temporalTarget(home, stale), TargetError);
  const half = await upFile('{"pid":1');
  assert.throws(() => temporalTarget(home, half), TargetError);
});

test('TEMPORAL_ADDRESS wins over a running up, which is told as unused', async () => {
  const env = {
    ...home,
    TEMPORAL_ADDRESS: 'temporal.example.com:7233',
    TEMPORAL_NAMESPACE: 'purchasing',
  };
  const target = temporalTarget(env, await upFile(up));
  // The task queue belongs to the server it was found with.
  assert.equal(target.taskQueue, 'orders');
  assert.equal(isPlainUp(target), false);
  assert.equal(
    describeTarget(target),
    'Temporal temporal.example.com:7233 namespace purchasing, from the environment; ' +
      'task queue orders, the default; not used: the running `npm run up`',
  );
});

test('the server of a running up is not taken in silence for a user who names a database', async () => {
  const env = { ...home, DATABASE_URL: 'postgres://me:pw@db.example.com/orders' };
  const target = temporalTarget(env, await upFile(up));
  assert.equal(target.temporal.address, up.temporalAddress);
  assert.equal(isPlainUp(target), false);
  assert.match(describeTarget(target), /from `npm run up`; not used: DATABASE_URL$/);
});

test('the task queue is that of the running up when its server is named, unless named itself', async () => {
  const file = await upFile(up);
  const env = { ...home, TEMPORAL_ADDRESS: up.temporalAddress };
  assert.equal(temporalTarget(env, file).taskQueue, 'local');
  const elsewhere = { ...env, TEMPORAL_NAMESPACE: 'purchasing' };
  assert.equal(temporalTarget(elsewhere, file).taskQueue, 'orders');
  const named = temporalTarget({ ...home, Q2T_TASK_QUEUE: 'mine' }, file);
  assert.match(describeTarget(named), /from `npm run up`; task queue mine, from the environment$/);
  assert.equal(isPlainUp(named), false);
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
  const plain = temporalTarget(env);
  assert.equal(plain.temporal.source, 'configuration file');
  assert.equal(plain.temporal.namespace, 'file-space');
  const cloud = temporalTarget({ ...env, TEMPORAL_PROFILE: 'cloud' });
  assert.equal(cloud.temporal.options.apiKey, 'top-secret');
  // An API key never travels in clear text.
  assert.equal(cloud.temporal.options.tls, true);
  const tls = temporalTarget({ ...env, TEMPORAL_PROFILE: 'tls' }).temporal.options.tls;
  assert(typeof tls === 'object' && tls?.serverNameOverride === 'inside');
});

test('settings that can not be used are refused by name', async () => {
  assert.throws(() => ownParts({ ...home, PARTNERS_URL: 'localhost:3000' }), {
    message: /^PARTNERS_URL must be a URL that begins with http:/,
  });
  const missing = { ...home, TEMPORAL_PROFILE: 'nobody' };
  assert.throws(() => temporalTarget(missing), { message: /Profile 'nobody' not found/ });
  const empty = { ...home, TEMPORAL_CONFIG_FILE: await configFile('') };
  assert.throws(() => temporalTarget(empty), { message: /temporal.toml has no \[profile/ });
});

test('an empty variable is one that is not set', async () => {
  const env = { ...home, TEMPORAL_ADDRESS: '', TEMPORAL_PROFILE: '', DATABASE_URL: '' };
  assert.equal(isPlainUp(temporalTarget(env, await upFile(up))), true);
});

test('the description names everything but the secrets', () => {
  const env = {
    ...home,
    TEMPORAL_ADDRESS: 'temporal.example.com:7233',
    TEMPORAL_API_KEY: 'key-secret',
  };
  const text = describeTarget(temporalTarget(env));
  assert.doesNotMatch(text, /secret/);
  assert.match(text, /Temporal temporal\.example\.com:7233 namespace default \(API key, TLS\)/);
  assert.match(text, /, from the environment; /);
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
  assert.throws(() => temporalTarget(env), TargetError);
});
