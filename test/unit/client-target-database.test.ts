import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeTarget, isPlainUp } from '../../client/target.ts';
import {
  configFile,
  databaseTarget,
  home,
  temporalTarget,
  noUp,
  up,
  upFile,
} from './client-target-places.ts';

const own = 'postgres://me:db-secret@db.example.com/orders?sslpassword=ssl-secret';

test('the queue and the chain need a database only, and the error says how to get one', () => {
  assert.equal(databaseTarget({ ...home, DATABASE_URL: own }).databaseUrl, own);
  assert.throws(() => databaseTarget({ ...home, TEMPORAL_ADDRESS: 'temporal:7233' }), {
    name: 'TargetError',
    message: /`npm run up` in another terminal, or set DATABASE_URL/,
  });
});

test('a broken setting of one half does not stop the other', async () => {
  const TEMPORAL_CONFIG_FILE = await configFile('not toml at all');
  const env = { ...home, DATABASE_URL: own, TEMPORAL_CONFIG_FILE, PARTNERS_URL: 'nowhere' };
  assert.equal(databaseTarget(env).source, 'environment');
  const other = { ...home, TEMPORAL_ADDRESS: 'temporal:7233', DATABASE_URL: 'mysql://x' };
  assert.equal(temporalTarget(other).temporal.address, 'temporal:7233');
});

test('a database that can not be used is refused by name, and not shown', () => {
  const env = { ...home, DATABASE_URL: 'mysql://root:hunter2@db/x' };
  assert.throws(
    () => databaseTarget(env, noUp),
    (error: Error) =>
      /^DATABASE_URL must be .*postgres:/.test(error.message) && !/hunter2/.test(error.message),
  );
});

test('the running up is the database, without a word', async () => {
  const target = databaseTarget(home, await upFile(up));
  assert.equal(target.databaseUrl, up.databaseUrl);
  assert.equal(isPlainUp(target), true);
});

test('DATABASE_URL wins over a running up, which is told as unused', async () => {
  const target = databaseTarget({ ...home, DATABASE_URL: own }, await upFile(up));
  assert.equal(target.databaseUrl, own);
  assert.equal(isPlainUp(target), false);
  assert.equal(
    describeTarget(target),
    'Postgres postgres://me:***@db.example.com/orders?sslpassword=***, from the environment; ' +
      'not used: the running `npm run up`',
  );
});

test('the database of a running up is not taken in silence for a user who names a Temporal server', async () => {
  const env = { ...home, TEMPORAL_ADDRESS: 'temporal.example.com:7233' };
  const target = databaseTarget(env, await upFile(up));
  assert.equal(target.databaseUrl, up.databaseUrl);
  assert.equal(isPlainUp(target), false);
  assert.match(
    describeTarget(target),
    /^Postgres \S+:20003\/q2t, from `npm run up`; not used: TEMPORAL_ADDRESS$/,
  );
});

test('naming what the running up uses anyway is no reason to say so', async () => {
  const file = await upFile(up);
  const env = { ...home, TEMPORAL_ADDRESS: up.temporalAddress, DATABASE_URL: up.databaseUrl };
  assert.deepEqual(databaseTarget(env, file).unused, []);
  assert.deepEqual(temporalTarget(env, file).unused, []);
});
