import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { main } from '../../client/program.ts';

const SHIM = fileURLToPath(new URL('../../client/q2t.mjs', import.meta.url));

export interface Ended {
  exitCode: number;
  stdout: string;
  stderr: string;
}

interface Typed {
  /** Its servers. Nothing of the user's own is there besides. */
  env?: Record<string, string>;
  input?: string | Uint8Array;
}

const TIME_ZONE = 'Europe/Amsterdam';
// What runs in this process shows times as the binary does.
process.env['TZ'] = TIME_ZONE;

/** The real binary in a process of its own, as from a terminal of a buyer in Amsterdam. */
export async function q2t(
  args: readonly string[],
  { env = {}, input = '' }: Typed = {},
): Promise<Ended> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [SHIM, ...args], {
    env: { ...isolatedEnv(process.env), TZ: TIME_ZONE, NO_COLOR: '1', ...env },
    extendEnv: false,
    input,
    reject: false,
    timeout: 60_000,
  });
  assert.ok(exitCode !== undefined, `q2t ${args.join(' ')} did not end by itself: ${stderr}`);
  return { exitCode, stdout, stderr };
}

/**
 * What the binary runs, in this process: for tests of what it says and not of how it starts and ends,
 * at a tenth of the time.
 */
export async function q2tInside(
  args: readonly string[],
  { env = {}, input = '' }: Typed = {},
): Promise<Ended> {
  const [stdout, stderr] = [paper(), paper()];
  const exitCode = await main(args, {
    env: { ...isolatedEnv(process.env), ...env },
    stdin: Readable.from([Buffer.from(input)]),
    stdout,
    stderr,
  });
  return { exitCode, stdout: stdout.read(), stderr: stderr.read() };
}

/** Keeps what is written; read without the last end of line, as `execa` does it. */
function paper() {
  let text = '';
  return {
    write: (more: string) => void (text += more),
    read: () => text.replace(/\n$/, ''),
  };
}

/**
 * Compares what a person would see with test/cli/golden/NAME.txt, or NAME.queue.txt where the queue says
 * it otherwise. `names` are put in the place of what is made up afresh in each run. After a wanted change:
 *   Q2T_TEST_UPDATE_GOLDEN=1 npm test -- test/cli/*.test.ts
 */
export async function assertGolden(
  name: string,
  { exitCode, stdout, stderr }: Ended,
  { names = {}, on }: { names?: Record<string, string>; on?: string } = {},
): Promise<void> {
  const seen = `exit code ${exitCode}\n--- stdout\n${stdout}\n--- stderr\n${stderr}\n`;
  const normal = Object.entries(names).reduce(
    (text, [value, placeholder]) => text.replaceAll(value, placeholder),
    normalised(seen),
  );
  const common = new URL(`golden/${name}.txt`, import.meta.url);
  const own = new URL(`golden/${name}.${on}.txt`, import.meta.url);
  if (process.env['Q2T_TEST_UPDATE_GOLDEN']) await update(normal, common, on === 'queue' && own);
  assert.equal(normal, await readFile(existsSync(own) ? own : common, 'utf8'));
}

/** Temporal's is the common one; the queue has its own only where it differs. */
async function update(text: string, common: URL, own: URL | false): Promise<void> {
  if (own === false) return writeFile(common, text);
  await rm(own, { force: true });
  if (text !== (await readFile(common, 'utf8'))) await writeFile(own, text);
}

/** Times, ids that a partner makes up, ports and the target (which names an `up` that may run meanwhile), as words. */
function normalised(text: string): string {
  const time = /\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} (CET|CEST)/g;
  return text
    .replace(time, 'TIME')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/TIME \((now|in \d+ \w+|\d+ \w+ ago)\)/g, 'TIME (RELATIVE)')
    .replace(/^(Temporal|Postgres) \S*127\.0\.0\.1:\d+.* from the environment.*$/gm, 'TARGET')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT');
}
