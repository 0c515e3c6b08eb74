import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT_MS = 240_000;

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

/** The rows of the table in a text: on, where it is, charged, reserved, placed, mailed, verdict; not how long it took. */
function rowsIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.split('│').map((cell) => cell.trim()))
    .filter(([, , on]) => on === 'chain' || on === 'queue' || on === 'temporal')
    .map((cells) => [...cells.slice(2, 8), cells[9]].join(' '));
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
  test('shows what each implementation makes of the same orders, and leaves nothing behind', async (t) => {
    const { folder, child } = await demo(t);
    const { exitCode, stdout, stderr } = await child;
    assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /Temporal's web page, while this runs: http:\/\/127\.0\.0\.1:\d+/);
    assert.match(stdout, /killed \(SIGKILL\)/);
    assert.deepEqual(rowsIn(stdout), [
      'chain cannot say 1 1 2 1 broke: placed twice',
      'queue completed 1 1 1 1 held',
      'temporal completed 1 1 1 1 held',
      'chain cannot say 1 1 1 1 held',
      'queue completed 1 1 1 1 held',
      'temporal completed 1 1 1 1 held',
      'chain cannot say 0 0 0 0 cannot wait for a person',
      'queue completed 1 1 1 1 held',
      'temporal completed 1 1 1 1 held',
      'chain cannot say 0 1 0 0 still out, 15 min at a time',
      'queue completed 1 1 1 1 held',
      'temporal completed 1 1 1 1 held',
      'chain cannot say 0 0 0 0 held',
      'queue refused 0 0 0 0 held',
      'temporal refused 0 0 0 0 held',
    ]);
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    assert.deepEqual(rowsIn(readme), rowsIn(stdout), 'the table in README.md is out of date');
    await nothingIsLeftOf(folder);
  });

  test('stops everything on Ctrl-C and exits with 130', async (t) => {
    const { folder, child } = await demo(t);
    let printed = '';
    for await (const line of child) {
      printed += `${line}\n`;
      if (line.includes('Opening one world each')) child.kill('SIGINT');
    }
    const { exitCode } = await child;
    assert.equal(exitCode, 130, printed);
    await nothingIsLeftOf(folder);
  });
});
