import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { isolatedEnv } from '../../client/isolated-env.mjs';

const SHIM = fileURLToPath(new URL('../../client/q2t.mjs', import.meta.url));

export interface Ended {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The real binary in a process of its own, as from a terminal of a buyer in Amsterdam, with `env` as its servers. */
export async function q2t(
  args: readonly string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string | Uint8Array } = {},
): Promise<Ended> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [SHIM, ...args], {
    env: { ...isolatedEnv(process.env), TZ: 'Europe/Amsterdam', NO_COLOR: '1', ...env },
    extendEnv: false,
    input,
    reject: false,
    timeout: 60_000,
  });
  assert.ok(exitCode !== undefined, `q2t ${args.join(' ')} did not end by itself: ${stderr}`);
  return { exitCode, stdout, stderr };
}

/**
 * Compares what a person would see with test/cli/golden/NAME.txt. After a wanted change:
 *   Q2T_TEST_UPDATE_GOLDEN=1 node --test 'test/cli/*.test.ts'
 */
export async function assertGolden(
  name: string,
  { exitCode, stdout, stderr }: Ended,
): Promise<void> {
  const seen = `exit code ${exitCode}\n--- stdout\n${stdout}\n--- stderr\n${stderr}\n`;
  const file = new URL(`golden/${name}.txt`, import.meta.url);
  const normal = withoutTimes(seen);
  if (process.env['Q2T_TEST_UPDATE_GOLDEN']) await writeFile(file, normal);
  assert.equal(normal, await readFile(file, 'utf8'));
}

/** Times, ports and what hangs on them, as words. */
function withoutTimes(text: string): string {
  return text
    .replace(
      /\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} (CET|CEST)( \((now|in \d+ \w+|\d+ \w+ ago)\))?/g,
      (_all, _zone, relative) => {
        return relative === undefined ? 'TIME' : 'TIME (RELATIVE)';
      },
    )
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT');
}
