import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { execa } from 'execa';
import { NODE_FLAGS, compareVersions, pinnedNode, projectRoot } from '../../stack/runtime.mjs';
import { smallProject } from './checkout.ts';
import { until } from '../support/until.ts';

/** Every Node of this machine, with its version: among them the old one that the bootstrap is for. */
const nodes = await everyNode();

async function everyNode(): Promise<{ path: string; version: string }[]> {
  const dirs = [dirname(process.execPath), ...(process.env['PATH'] ?? '').split(delimiter)];
  const paths = dirs.map((dir) => join(dir, 'node')).filter((path) => existsSync(path));
  const real = new Set(await Promise.all(paths.map((path) => realpath(path))));
  return Promise.all(
    [...real].map(async (path) => {
      const { stdout } = await execa(path, ['--version']);
      return { path, version: stdout.slice(1) };
    }),
  );
}

/** Puts the Node that runs this test where the bootstrap would have put the one it fetches. */
async function bringNode(project: string): Promise<void> {
  const pinned = pinnedNode();
  assert(pinned);
  const path = join(project, relative(projectRoot, pinned.path));
  await mkdir(dirname(path), { recursive: true });
  await symlink(process.execPath, path);
}

const REPORT = `const seen: object = { version: process.versions.node, args: process.argv.slice(2),
    address: process.env.TEMPORAL_ADDRESS ?? null, execArgv: process.execArgv, pid: process.pid };
  console.log(JSON.stringify(seen));
  process.exitCode = 7;`;

for (const node of nodes) {
  test(`started by Node ${node.version}, a task runs under a Node that can run it, with its arguments and exit code`, async (t) => {
    const tasks = {
      report: { commands: [['report.ts']] },
      apart: { commands: [['report.ts']], isolated: true },
    };
    const dir = await smallProject(t, tasks, { 'report.ts': REPORT });
    await bringNode(dir);
    const options = { reject: false, env: { TEMPORAL_ADDRESS: 'prod:7233' } } as const;
    const bootstrap = join(dir, 'stack', 'bootstrap.mjs');
    const result = await execa(node.path, [bootstrap, 'report', 'a b', '--flag'], options);
    assert.equal(result.exitCode, 7, result.stderr);
    assert.equal(result.stderr, '');
    const seen = JSON.parse(result.stdout) as {
      version: string;
      args: string[];
      address: string;
      execArgv: string[];
    }; // printed by REPORT
    assert(compareVersions(seen.version, '22.18.0') >= 0);
    assert.deepEqual(seen.args, ['a b', '--flag']);
    assert.deepEqual(seen.execArgv, NODE_FLAGS);
    assert.equal(seen.address, 'prod:7233');
    const apart = await execa(node.path, [bootstrap, 'apart'], options);
    assert.match(apart.stdout, /"address":null/);
  });

  test(`started by Node ${node.version}, a task gets one SIGTERM or SIGINT and its exit code is passed on`, async (t) => {
    const code = `let heard = 0;
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {
        if (heard++ === 0) setTimeout(() => { console.log('heard', heard); process.exit(5); }, 200);
      });
      console.log('up'); setInterval(() => {}, 1e6);`;
    const dir = await smallProject(t, { wait: { commands: [['wait.ts']] } }, { 'wait.ts': code });
    await bringNode(dir);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const child = execa(node.path, [join(dir, 'stack', 'bootstrap.mjs'), 'wait'], {
        reject: false,
      });
      await once(child.stdout, 'data');
      child.kill(signal);
      const { exitCode, stdout } = await child;
      assert.equal(exitCode, 5);
      assert.equal(stdout, 'up\nheard 1');
    }
  });
}

test('of several commands all run, and the first bad exit code counts', async (t) => {
  const tasks = {
    check: {
      commands: [
        ['say.mjs', '3'],
        ['say.mjs', '0'],
        ['say.mjs', '4'],
      ],
    },
  };
  const say = `console.log('ran', process.argv[2]); process.exitCode = Number(process.argv[2]);`;
  const dir = await smallProject(t, tasks, { 'say.mjs': say });
  const result = await execa(process.execPath, [join(dir, 'stack', 'bootstrap.mjs'), 'check'], {
    reject: false,
  });
  assert.equal(result.stdout, 'ran 3\nran 0\nran 4');
  assert.equal(result.exitCode, 3);
});

test('an unknown task is refused with the known ones', async (t) => {
  const dir = await smallProject(t, { demo: { commands: [] } }, {});
  for (const args of [['deploy'], ['constructor'], []]) {
    const bootstrap = join(dir, 'stack', 'bootstrap.mjs');
    const result = await execa(process.execPath, [bootstrap, ...args], { reject: false });
    assert.equal(result.exitCode, 2);
    assert.match(result.stderr, /Usage: node stack\/bootstrap\.mjs demo/);
  }
});

test('missing packages are installed once, though two tasks start at the same time, and not again', async (t) => {
  const dir = await smallProject(
    t,
    { use: { commands: [['use.mjs']] } },
    {
      'use.mjs': `import { word } from 'tiny'; console.log(word);`,
    },
  );
  await mkdir(join(dir, 'tiny'));
  await writeFile(
    join(dir, 'tiny', 'package.json'),
    '{"name":"tiny","version":"1.0.0","type":"module","exports":"./index.js"}',
  );
  await writeFile(join(dir, 'tiny', 'index.js'), `export const word = 'installed';\n`);
  const npm = (...args: string[]) => execa('npm', args, { cwd: dir });
  await npm('pack', './tiny');
  await writeFile(
    join(dir, 'package.json'),
    '{"type":"module","dependencies":{"tiny":"file:tiny-1.0.0.tgz"}}',
  );
  await rm(join(dir, 'package-lock.json'));
  await npm('install', '--package-lock-only', '--offline', '--no-audit', '--no-fund');
  const run = () => execa(process.execPath, [join(dir, 'stack', 'bootstrap.mjs'), 'use']);
  const both = await Promise.all([run(), run()]);
  assert.deepEqual(
    both.map(({ stdout }) => stdout),
    ['installed', 'installed'],
  );
  const said = both.map(({ stderr }) => stderr).join('\n');
  assert.equal(said.match(/Installing npm packages .* done/g)?.length, 1, said);
  assert.equal((await run()).stderr, '');
});

test('a failing installation is an error in npm’s own words', async (t) => {
  const dir = await smallProject(
    t,
    { use: { commands: [['use.mjs']] } },
    {
      'package.json': '{"dependencies":{"tiny":"1.0.0"}}',
      // Only what npm has already, which is nothing: no registry is asked.
      '.npmrc': 'offline=true\n',
    },
  );
  await rm(join(dir, 'node_modules'), { recursive: true });
  const result = await execa(process.execPath, [join(dir, 'stack', 'bootstrap.mjs'), 'use'], {
    reject: false,
  });
  assert.equal(result.exitCode, 1);
  assert.match(result.stderr, /^use: npm ci .* ended with code 1\n/m);
  assert.match(result.stderr, /npm error/);
});

test('a Node package whose content is not the pinned one is refused and leaves nothing', async (t) => {
  // No Node is new enough for this task, so one is asked of the registry, which here gives something else.
  const tasks = { later: { node: '999.0.0', commands: [['use.mjs']] } };
  const dir = await smallProject(t, tasks, {});
  const pinned = pinnedNode();
  assert(pinned);
  await mkdir(join(dir, 'fake'));
  const manifest = { name: pinned.name, version: pinned.version };
  await writeFile(join(dir, 'fake', 'package.json'), JSON.stringify(manifest));
  await execa('npm', ['pack', './fake'], { cwd: dir });
  const tarball = await readFile(join(dir, `${pinned.name}-${pinned.version}.tgz`));
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.endsWith('.tgz')) return response.end(tarball);
    const host = `http://${request.headers.host}`;
    const dist = { tarball: `${host}/${pinned.name}/-/fake.tgz` };
    return response.end(
      JSON.stringify({
        name: pinned.name,
        'dist-tags': { latest: pinned.version },
        versions: { [pinned.version]: { ...manifest, dist } },
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  t.after(() => {
    registry.closeAllConnections();
    registry.close();
  });
  const address = registry.address();
  assert(typeof address === 'object' && address !== null);
  const result = await execa(process.execPath, [join(dir, 'stack', 'bootstrap.mjs'), 'later'], {
    reject: false,
    env: {
      npm_config_registry: `http://127.0.0.1:${address.port}/`,
      npm_config_cache: join(dir, 'npm-cache'),
      npm_config_fetch_retries: '0',
    },
  });
  assert.equal(result.exitCode, 1);
  assert.match(result.stderr, /is too old here: 999\.0\.0 or later is needed\. Fetching Node/);
  assert.match(result.stderr, /EINTEGRITY/);
  assert(asked.some((url) => url.endsWith('.tgz')));
  assert.deepEqual(await readdir(join(dir, '.q2t', 'runtime')), []);
  await until('the lock is free', () => !existsSync(join(dir, '.q2t', 'bootstrap.lock')));
});
