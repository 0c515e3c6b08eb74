import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { connectPartners } from '../../../partners/clients/connect.ts';
import { controlPartners } from '../../../partners/control.ts';

const program = fileURLToPath(new URL('../../../workers/partners.ts', import.meta.url));

export interface Started {
  child: ChildProcess;
  url: string;
  /** Every line of its log so far. */
  log: string[];
  /** What ended it: its exit code or a signal. */
  ended: Promise<number | NodeJS.Signals | null>;
}

const logLine = z.object({ msg: z.string(), url: z.string().optional() });

/**
 * Starts the partners as a process of their own and waits for the line that says they listen. `limit`
 * is a shell command that goes before, such as a `ulimit`.
 */
export async function start(
  t: TestContext,
  settings: Record<string, string>,
  limit = ':',
): Promise<Started> {
  const script = `${limit}; exec "$0" "$1"`;
  const child = spawn('/bin/sh', ['-c', script, process.execPath, program], {
    env: settings,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const log: string[] = [];
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.push(line);
      const { msg, url } = logLine.parse(JSON.parse(line));
      if (msg === 'ready' && url) resolve(url);
    });
    void ended.then((end) => reject(new Error(`ended with ${end}:\n${log.join('\n')}`)));
  });
  return { child, url, log, ended };
}

/** The path of a state file in a folder of its own. */
export async function newStateFile(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'q2t-partners-'));
  t.after(() => rm(path, { recursive: true }));
  return join(path, 'state.jsonl');
}

export function clients(t: TestContext, baseUrl: string) {
  const partners = connectPartners({ baseUrl });
  t.after(() => partners.close());
  return { partners, control: controlPartners(baseUrl) };
}
