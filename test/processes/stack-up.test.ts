import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { execa } from 'execa';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { upSchema, type Up } from '../../client/up-file.ts';
import { isAlive } from '../../stack/lock.mjs';
import { workerKinds } from '../../stack/parts.ts';
import { checkout } from './checkout.ts';
import { everyHistory, everyRow, filesWith, startOwnModel } from './own-model.ts';
import type { OwnModel } from './own-model.ts';
import { until } from '../support/until.ts';

const START_LIMIT_MS = 180_000;

interface Running {
  /** Resolves when it has ended, well or not. */
  ended: Promise<{ exitCode: number | undefined; stdout: string; stderr: string }>;
  type(text: string): void;
  kill(signal: NodeJS.Signals): void;
}

/** Runs a command in a checkout, with none of the user's own servers but those in `env`. */
function run(dir: string, file: string, args: readonly string[], env = {}): Running {
  const child = execa(file, args, {
    cwd: dir,
    env: { ...isolatedEnv(process.env), ...env },
    extendEnv: false,
    stdin: 'pipe',
    // A stop in order takes what it takes.
    forceKillAfterDelay: false,
    reject: false,
  });
  return {
    ended: child.then(({ exitCode, stdout, stderr }) => ({ exitCode, stdout, stderr })),
    type: (text) => child.stdin.write(text),
    kill: (signal) => child.kill(signal),
  };
}

const task = (dir: string, ...args: string[]) =>
  run(dir, process.execPath, [join(dir, 'stack', 'bootstrap.mjs'), ...args]);

async function untilUp(dir: string, started: Running): Promise<Up> {
  const file = join(dir, '.q2t', 'up.json');
  let ended: string | undefined;
  void started.ended.then(({ stderr }) => (ended = stderr));
  await until(
    'it is up',
    () => {
      if (ended !== undefined) throw new Error(`up has ended: ${ended}`);
      return existsSync(file);
    },
    START_LIMIT_MS,
  );
  return upSchema.parse(JSON.parse(await readFile(file, 'utf8')));
}

interface Remembered {
  pid: number;
  identity: string;
}

/** The processes that run for a data folder. */
async function processesOf(dataDir: string): Promise<Remembered[]> {
  const runDir = join(dataDir, 'run');
  const files = await readdir(runDir);
  return Promise.all(
    files.map(async (name) => JSON.parse(await readFile(join(runDir, name), 'utf8')) as Remembered), // as left-behind.ts writes it
  );
}

const alive = (processes: readonly Remembered[]) =>
  processes.filter(({ pid, identity }) => isAlive(pid, identity));

/** Also when the test fails half way. */
function endAtLast(t: TestContext, dir: string): void {
  t.after(async () => {
    await task(dir, 'down', '--erase').ended;
  });
}

/** Asked from a terminal that has none of `up`'s settings, of workers that have them. */
async function asksTheModelOfUp(dir: string, up: Up, model: OwnModel): Promise<void> {
  const agent = (on: string, ...args: string[]) => {
    const q2t = join(dir, 'client', 'q2t.mjs');
    return run(dir, process.execPath, [q2t, 'agent', ...args, '--on', on]).ended;
  };
  for (const on of ['temporal', 'queue', 'chain']) {
    const asked = await agent(on, 'ask', '3 chairs', '--ref', `REQ-${on}`, '--json');
    assert.match(asked.stdout, /"model": "qwen3"/, asked.stderr);
    await until(`the worker of ${on} asks the model`, () => model.askedFor(`REQ-${on}`) > 0);
  }
  assert.deepEqual(new Set(model.authorizations), new Set([`Bearer ${model.key}`]));
  for (const on of ['temporal', 'queue']) {
    const followed = await agent(on, 'where', `REQ-${on}`, '--follow');
    assert.match(followed.stdout, /ended, refused/, followed.stderr);
  }
  await model.close();
  await agent('queue', 'ask', '3 chairs', '--ref', 'REQ-dead');
  await until('the dead address to be shown', async () => {
    const { stdout } = await agent('queue', 'where', 'REQ-dead');
    return stdout.includes(`model at ${model.host} can't be reached: ECONNREFUSED`);
  });
  const collected = await agent('queue', 'collect', '--force');
  assert.ok(collected.stdout.includes(join(up.storeDir, 'queue')), collected.stderr);
  await assertNowhere(up, dir, model);
}

/** What is looked for can be found: the model's name is where a key would be. */
async function assertNowhere(up: Up, dir: string, { key, host }: OwnModel): Promise<void> {
  const rows = await everyRow(up.databaseUrl);
  const histories = await everyHistory(up);
  assert.ok(rows.includes('qwen3') && !rows.includes(key), 'rows');
  assert.ok(histories.includes('qwen3') && !histories.includes(key), 'histories');
  assert.ok(rows.includes(host), 'the failure of the dead address is in a row');
  const upFile = await readFile(join(dir, '.q2t', 'up.json'), 'utf8');
  assert.ok(upFile.includes('qwen3') && !upFile.includes(key));
  // Logs, the store, Temporal's own file, Postgres' pages and its log.
  const found = await filesWith(up.dataDir, key);
  assert.deepEqual(found, []);
  const logs = await filesWith(join(up.dataDir, 'logs'), host);
  assert.ok(
    logs.some((file) => file.includes('queue')),
    logs.join(),
  );
}

test('up prints every address, refuses a second one, serves the command line and one more worker, and ends at Ctrl-C with nothing left', async (t) => {
  const dir = await checkout(t);
  endAtLast(t, dir);
  const model = await startOwnModel(t);
  // A real terminal, so that Ctrl-C goes where a person's goes: to npm, the shell, the bootstrap and `up`.
  const python =
    'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
  const terminal = run(dir, 'python3', ['-c', python, 'npm', 'run', 'up'], model.env);
  const up = await untilUp(dir, terminal);
  const processes = await processesOf(up.dataDir);
  // Postgres, Temporal and the partners, and a worker of each kind.
  const expected = 3 + Object.keys(workerKinds).length;
  assert.equal(alive(processes).length, expected);

  const second = await task(dir, 'up').ended;
  assert.equal(second.exitCode, 1);
  assert.match(second.stderr, new RegExp(`Already up: process ${up.pid} since .*npm run down`));
  assert.equal(alive(processes).length, expected);

  for (const [on, exitCode] of [
    ['temporal', 0],
    ['queue', 0],
    ['chain', 2],
  ] as const) {
    const q2t = join(dir, 'client', 'q2t.mjs');
    const listed = await run(dir, process.execPath, [q2t, 'list', '--json', '--on', on]).ended;
    assert.equal(listed.exitCode, exitCode, listed.stderr);
    // Nothing else was named, so there is no target to tell.
    assert.equal(listed.stderr, '');
  }

  await asksTheModelOfUp(dir, up, model);

  const worker = task(dir, 'worker', 'queue');
  await until('one more worker to serve the queue', async () => {
    const q2t = join(dir, 'client', 'q2t.mjs');
    const versions = run(dir, process.execPath, [q2t, 'versions', '--on', 'queue']);
    return / 2 workers/.test((await versions.ended).stdout);
  });
  worker.kill('SIGTERM');
  assert.equal((await worker.ended).exitCode, 0);

  terminal.type('\x03');
  // npm ends by the signal itself, whatever its script says; the exit code of `up` is in the next tests.
  const { stdout } = await terminal.ended;
  assert.deepEqual(alive(processes), []);
  assert.equal(existsSync(join(dir, '.q2t', 'up.json')), false);
  for (const shown of [up.temporalAddress, up.uiUrl, up.partnersUrl, up.taskQueue, up.dataDir]) {
    assert(shown !== undefined && stdout.includes(shown), shown);
  }
  assert.match(stdout, /Stopped\. The data stays/);
  assert.match(stdout, /Workers +1 temporal, 1 queue, 1 chain\b/);
  assert.ok(stdout.includes(`qwen3 at http://${model.host}/v1 `) && !stdout.includes(model.key));
  // The database's address, but not its password.
  const { host, password } = new URL(up.databaseUrl);
  assert(stdout.includes(host) && !stdout.includes(password));
  // A clean end, and one of it: the second of two signals would have meant "at once".
  assert.equal(stdout.match(/Stopping …/g)?.length, 1);
});

test('after SIGKILL of up, down clears what is left, a new up finds its data, and down --erase deletes it', async (t) => {
  const dir = await checkout(t);
  endAtLast(t, dir);
  const first = task(dir, 'up', '--workers', '1');
  const { pid, dataDir } = await untilUp(dir, first);
  const left = await processesOf(dataDir);
  process.kill(pid, 'SIGKILL');
  await first.ended;
  const target = await run(dir, process.execPath, [join(dir, 'client', 'q2t.mjs'), 'list']).ended;
  assert.match(target.stderr, /npm run up/);
  const down = await task(dir, 'down').ended;
  assert.equal(down.exitCode, 0, down.stderr);
  assert.match(down.stdout, /^Nothing is up\./);
  assert.deepEqual(alive(left), []);
  const password = await readFile(join(dataDir, 'postgres.json'), 'utf8');

  const again = task(dir, 'up', '--workers', '1');
  const up = await untilUp(dir, again);
  assert.equal(await readFile(join(dataDir, 'postgres.json'), 'utf8'), password);
  const running = await processesOf(dataDir);
  const erased = await task(dir, 'down', '--erase').ended;
  assert.equal(erased.exitCode, 0, erased.stderr);
  assert.match(
    erased.stdout,
    new RegExp(`^Stopping process ${up.pid}, up since .*\nStopped\\.\nErased `),
  );
  assert.equal((await again.ended).exitCode, 0);
  assert.deepEqual(alive(running), []);
  assert.equal(existsSync(dataDir), false);
});

test('up that is told to stop while it starts leaves nothing running', async (t) => {
  const dir = await checkout(t);
  endAtLast(t, dir);
  const starting = task(dir, 'up', '--workers', '1');
  const runDir = join(dir, '.q2t', 'data', 'run');
  await until('its first process runs', () => existsSync(join(runDir, 'temporal.json')));
  const seen = await processesOf(join(dir, '.q2t', 'data'));
  starting.kill('SIGTERM');
  const { exitCode } = await starting.ended;
  assert.equal(exitCode, 0);
  assert.deepEqual(alive(seen), []);
  assert.deepEqual(await readdir(runDir), []);
});

test('bad flags are refused by name, a worker without an up too, and down does not erase a folder that is not its own', async (t) => {
  const dir = await checkout(t);
  const alone = await task(dir, 'worker', 'queue').ended;
  assert.equal(alone.exitCode, 1);
  assert.match(alone.stderr, /Nothing is up: .*npm run up/);
  const bad = await task(dir, 'up', '--workers', 'many').ended;
  assert.equal(bad.exitCode, 1);
  assert.match(bad.stderr, /--workers.*whole number/);
  const wrong = await task(dir, 'down', '--erase', '--data-dir', join(dir, 'client')).ended;
  assert.notEqual(wrong.exitCode, 0);
  assert.match(wrong.stderr, /does not look like a data folder/);
  assert.equal(existsSync(join(dir, 'client', 'target.ts')), true);
  const own = await run(dir, process.execPath, [join(dir, 'stack', 'up.ts'), '--help']).ended;
  assert.match(own.stdout, /--postgres-port/);
});
