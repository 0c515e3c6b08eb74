import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
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

async function nothingIsLeftOf(folder: string): Promise<void> {
  const { stdout } = await execa('ps', ['-ewwo', 'pid,args']);
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.includes(folder)),
    [],
  );
  assert.deepEqual(await readdir(folder), []);
}

suite('the demo', { concurrency: false }, () => {
  test('shows that every order ended as it must, and leaves nothing behind', async (t) => {
    const { folder, child } = await demo(t);
    const { exitCode, stdout, stderr } = await child;
    assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /Temporal's web page, while this runs: http:\/\/127\.0\.0\.1:\d+/);
    assert.match(stdout, /killed \(SIGKILL\)/);
    const rows = stdout.split('\n').filter((line) => line.startsWith('│ PO-'));
    assert.deepEqual(
      rows
        .map((row) => row.split('│').map((cell) => cell.trim()))
        .map((cells) => [...cells.slice(1, 8), cells[9]]),
      [
        ['PO-2026-0193', 'one line', 'completed', '1', '1', '1', '1', 'yes'],
        ['PO-2026-0240', '240 lines', 'completed', '1', '1', '1', '1', 'yes'],
        ['PO-2026-0300', 'above the approval limit', 'completed', '1', '1', '1', '1', 'yes'],
        ['PO-2026-0412', rows[3]?.split('│')[2]?.trim(), 'completed', '1', '1', '1', '1', 'yes'],
        ['PO-2026-0513', 'refused by the credit bureau', 'refused', '0', '0', '0', '0', 'yes'],
      ],
    );
    await nothingIsLeftOf(folder);
  });

  test('stops everything on Ctrl-C and exits with 130', async (t) => {
    const { folder, child } = await demo(t);
    let printed = '';
    for await (const line of child) {
      printed += `${line}\n`;
      if (line.includes('PO-2026-0193 started')) child.kill('SIGINT');
    }
    const { exitCode } = await child;
    assert.equal(exitCode, 130, printed);
    await nothingIsLeftOf(folder);
  });
});
