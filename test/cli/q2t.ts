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
    env: {
      ...isolatedEnv(process.env),
      TZ: 'Europe/Amsterdam',
      NO_COLOR: '1',

      ...env,
    },
    extendEnv: false,
    input,
    reject: false,
    timeout: 60_000,
  });
  assert.ok(exitCode !== undefined, `q2t ${args.join(' ')} did not end by itself: ${stderr}`);
  return { exitCode, stdout, stderr };
}

/** The binary pointed at a bench: its server and its task queue. */
export function pointedAt({ address, taskQueue }: { address: string; taskQueue: string }) {
  const env = { TEMPORAL_ADDRESS: address, Q2T_TASK_QUEUE: taskQueue };
  return (args: readonly string[], input = '') => q2t(args, { env, input });
}

/**
 * Compares what a person would see with test/cli/golden/NAME.txt. `names` are put in the place of what
 * is made up afresh in each run. After a wanted change:
 *   Q2T_TEST_UPDATE_GOLDEN=1 npm test -- test/cli/*.test.ts
 */
export async function assertGolden(
  name: string,
  { exitCode, stdout, stderr }: Ended,
  names: Record<string, string> = {},
): Promise<void> {
  const seen = `exit code ${exitCode}\n--- stdout\n${stdout}\n--- stderr\n${stderr}\n`;
  const normal = Object.entries(names).reduce(
    (text, [value, placeholder]) => text.replaceAll(value, placeholder),
    withoutTimes(seen),
  );
  const file = new URL(`golden/${name}.txt`, import.meta.url);
  if (process.env['Q2T_TEST_UPDATE_GOLDEN']) await writeFile(file, normal);
  assert.equal(normal, await readFile(file, 'utf8'));
}

/** Times, ports and the target (which names an `up` that may run meanwhile), as words. */
function withoutTimes(text: string): string {
  const time = /\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} (CET|CEST)/g;
  return text
    .replace(time, 'TIME')
    .replace(/TIME \((now|in \d+ \w+|\d+ \w+ ago)\)/g, 'TIME (RELATIVE)')
    .replace(/^Temporal 127\.0\.0\.1:\d+ namespace .* from environment$/gm, 'TARGET')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT');
}
