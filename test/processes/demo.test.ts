import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT_MS = 300_000;

/** The demo as `npm run demo` runs it, with everything it writes in a folder of the test's own. */
async function demo(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'q2t-demo-test-'));
  // Postgres runs as another user when the test is root.
  await chmod(folder, 0o755);
  t.after(() => rm(folder, { recursive: true, force: true }));
  const child = execa(process.execPath, ['lab/demo.ts'], {
    cwd: root,
    env: { TMPDIR: folder },
    reject: false,
    timeout: LIMIT_MS,
  });
  return { folder, child };
}

/** The verdicts of the table in a text, one line a scenario: the first line of each row, no figures. */
function verdictsIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.split('│').map((cell) => cell.trim()))
    .filter(([, , onChain = '']) => /^(held|broke|cannot)/.test(onChain))
    .map(([, scenario, ...on]) => `${scenario}: ${on.slice(0, 3).join(', ')}`);
}

async function nothingIsLeftOf(folder: string): Promise<void> {
  const { stdout } = await execa('ps', ['-ewwo', 'pid,args']);
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.includes(folder)),
    [],
  );
  assert.deepEqual(await readdir(folder), []);
}

suite('the demo', { concurrency: false }, () => {
  test('shows what each implementation makes of the same faults, and leaves nothing behind', async (t) => {
    const { folder, child } = await demo(t);
    const { exitCode, stdout, stderr } = await child;
    assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /Temporal's web page, while this runs: http:\/\/127\.0\.0\.1:\d+/);
    assert.match(stdout, /temporal .*worker \d+ killed/);
    const verdicts = verdictsIn(stdout);
    assert.equal(verdicts[0], 'kill-worker: broke (placed twice), held, held');
    assert.deepEqual(
      verdicts.map((line) => line.replace(/:.*/, '')),
      ['kill-worker', 'approval', 'wake-on-thursday', 'buying-agent'],
    );
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    assert.deepEqual(verdictsIn(readme), verdicts, 'the table in README.md is out of date');
    await nothingIsLeftOf(folder);
  });

  test('stops everything on Ctrl-C and exits with 130', async (t) => {
    const { folder, child } = await demo(t);
    let printed = '';
    for await (const line of child) {
      printed += `${line}\n`;
      if (line.includes('the fault:')) child.kill('SIGINT');
    }
    const { exitCode } = await child;
    assert.equal(exitCode, 130, printed);
    await nothingIsLeftOf(folder);
  });
});
