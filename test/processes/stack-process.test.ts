import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { identityOf, isAlive } from '../../stack/lock.mjs';
import { runToEnd } from '../../stack/launch.ts';
import { postgresUser } from '../../stack/postgres-binaries.ts';
import { SupervisedProcess, type Death, type ProcessSpec } from '../../stack/process.ts';
import { until } from '../support/until.ts';
import { tempDir, writeScript } from '../unit/stack/temp-dir.ts';

/** A supervised Node process that runs `code`, its files in a folder of the test's own. */
async function supervised(
  t: TestContext,
  code: string,
  more: Partial<ProcessSpec> = {},
): Promise<{ process: SupervisedProcess; deaths: Death[]; spec: ProcessSpec }> {
  const dir = await tempDir(t);
  const deaths: Death[] = [];
  const spec: ProcessSpec = {
    name: 'sample',
    file: process.execPath,
    args: ['-e', code],
    env: { PATH: process.env['PATH'] },
    cwd: dir,
    logFile: join(dir, 'logs', 'sample.log'),
    pidFile: join(dir, 'run', 'sample.json'),
    readiness: { kind: 'line' },
    stopSignal: 'SIGTERM',
    onDeath: (death) => deaths.push(death),
    ...more,
  };
  const handle = new SupervisedProcess(spec);
  t.after(() => handle.kill());
  return { process: handle, deaths, spec };
}

const READY = `console.log(JSON.stringify({ msg: 'ready', port: 42 })); setInterval(() => {}, 1e6);`;

test('a process is ready when it says so, with the fields it says, and its log is in a file', async (t) => {
  const { process: sample, spec } = await supervised(t, `console.error('hello'); ${READY}`);
  await sample.start();
  assert.equal(sample.running, true);
  assert.equal(sample.readyFields['port'], 42);
  await sample.stop();
  assert.equal(sample.running, false);
  const log = await readFile(spec.logFile, 'utf8');
  assert.match(log, /hello/);
  assert.match(log, /"ready"/);
  assert.equal(existsSync(spec.pidFile), false);
});

test('one that ends before it is ready is an error with the end of its log', async (t) => {
  const { process: sample, deaths } = await supervised(
    t,
    `console.error('no disk'); process.exit(3)`,
  );
  await assert.rejects(sample.start(), /sample did not start: it ended with code 3\nno disk/);
  assert.equal(deaths.length, 0);
});

test('one that is never ready is ended after the limit', async (t) => {
  const code = `console.log('still thinking'); setInterval(() => {}, 1e6);`;
  const { process: sample } = await supervised(t, code, { readyLimitMs: 1_000 });
  await assert.rejects(sample.start(), /it was not ready after 1000 ms/);
  assert.equal(sample.pid, undefined);
});

test('a program that is not there is an error that names it', async (t) => {
  const { process: sample } = await supervised(t, '', { file: '/nonexistent/program' });
  await assert.rejects(sample.start(), /sample did not start: .*\n.*\/nonexistent\/program/s);
});

test('an unasked death is reported with the end of the log; stop and kill are not deaths', async (t) => {
  const { process: sample, deaths } = await supervised(t, `console.log('last words'); ${READY}`);
  await sample.start();
  await sample.kill();
  await sample.start();
  await sample.stop();
  assert.equal(deaths.length, 0);
  await sample.start();
  sample.signal('SIGKILL');
  await until('the death is reported', () => deaths.length === 1);
  assert.equal(deaths[0]?.how, 'by SIGKILL');
  assert.match(deaths[0].logTail, /last words/);
  assert.equal(deaths[0].willRestart, false);
  assert.equal(sample.running, false);
});

test('with restart a dead process comes back', async (t) => {
  const { process: sample, deaths } = await supervised(t, READY, { restart: true });
  await sample.start();
  const first = sample.pid;
  sample.signal('SIGKILL');
  await until('it is back', () => sample.running && sample.pid !== first);
  assert.equal(deaths[0]?.willRestart, true);
  await sample.stop();
  assert.equal(deaths.length, 1);
});

test('one that dies again and again is given up, and the last report says so', async (t) => {
  // The first time it is ready, later never.
  const code = `const { existsSync, writeFileSync } = require('node:fs');
    if (existsSync('seen')) process.exit(9);
    writeFileSync('seen', ''); ${READY}`;
  const { process: sample, deaths } = await supervised(t, code, {
    restart: true,
    restartDelayMs: 1,
  });
  await sample.start();
  sample.signal('SIGKILL');
  await until('it is given up', () => deaths.at(-1)?.willRestart === false);
  assert.equal(deaths.length, 6);
  assert.match(deaths.at(-1)?.how ?? '', /it ended with code 9/);
  assert.equal(sample.running, false);
});

test('stop during a restart leaves nothing running and reports nothing more', async (t) => {
  const { process: sample, deaths } = await supervised(t, READY, { restart: true });
  await sample.start();
  sample.signal('SIGKILL');
  await until('the death is reported', () => deaths.length === 1);
  await sample.stop();
  await sample.start();
  await sample.stop();
  assert.equal(deaths.length, 1);
  assert.equal(sample.pid, undefined);
});

test('stop while it starts makes the start fail and leaves nothing running', async (t) => {
  const { process: sample } = await supervised(t, 'setInterval(() => {}, 1e6);');
  const started = sample.start();
  const refused = assert.rejects(started, /was stopped while it started/);
  await until('it runs', () => sample.pid !== undefined);
  await sample.stop();
  await refused;
  assert.equal(sample.pid, undefined);
});

test('one that ignores the request to end is forced, also when it is frozen', async (t) => {
  const deaf = `process.on('SIGTERM', () => {}); ${READY}`;
  const { process: sample } = await supervised(t, deaf, { stopLimitMs: 300 });
  await sample.start();
  await sample.stop();
  assert.equal(sample.pid, undefined);
  const { process: frozen } = await supervised(t, READY);
  await frozen.start();
  frozen.signal('SIGSTOP');
  await frozen.stop();
  assert.equal(frozen.pid, undefined);
});

test('what a killed parent has left is gone at the latest after the next start', async (t) => {
  const { process: sample, spec } = await supervised(t, READY);
  const module = new URL('../../stack/process.ts', import.meta.url).href;
  const parentCode = `
    const { SupervisedProcess } = await import(${JSON.stringify(module)});
    const sample = new SupervisedProcess(JSON.parse(process.argv[1]));
    await sample.start();
    process.stdout.write(String(sample.pid));
    setInterval(() => {}, 1e6);`;
  const args = ['--input-type=module', '-e', parentCode, JSON.stringify(spec)];
  const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer]; // an emitter's arguments have no types
  const childPid = Number(printed.toString());
  const identity = identityOf(childPid);
  assert(isAlive(childPid, identity));
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await sample.start();
  assert.notEqual(sample.pid, childPid);
  assert.equal(isAlive(childPid, identity), false);
});

test('a pid file whose pid belongs to somebody else by now harms nobody', async (t) => {
  const { process: sample, spec } = await supervised(t, READY);
  await sample.start();
  await sample.stop();
  const bystander = spawn('sleep', ['60']);
  t.after(() => bystander.kill('SIGKILL'));
  const pid = bystander.pid ?? 0;
  await writeFile(spec.pidFile, JSON.stringify({ pid, identity: `${pid}:1:another-boot` }));
  await sample.start();
  assert(isAlive(pid, identityOf(pid)));
});

test('under root, the user that Postgres runs as reaches a program in a folder closed to all others', async (t) => {
  const dir = await tempDir(t);
  const program = join(dir, 'program');
  await writeScript(program, 'exit 0');
  const user = await postgresUser([program]);
  // `test -x` asks by access(2), as Postgres does.
  const look = { file: 'sh', args: ['-c', `test -x ${program} && ${program}`], cwd: '/' };
  const env = { PATH: process.env['PATH'] };
  await runToEnd({ ...look, env, ...(user && { user }) });
  if (!user) return;
  assert.equal(user.crossesClosedFolders, true);
  assert.notEqual(user.uid, 0);
  const without = { ...user, crossesClosedFolders: false };
  await assert.rejects(runToEnd({ ...look, env, user: without }));
});
