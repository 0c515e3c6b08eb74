import { execa } from 'execa';
import { readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { endProcess } from './left-behind.ts';
import { identityOf } from './lock.mjs';

const STOP_LIMIT_MS = 15_000;

/**
 * Stops a Postgres that still runs on this cluster though nobody here started it: its parent was killed,
 * or it was started by hand. Postgres itself would only refuse to start a second one.
 */
export async function stopForeignPostmaster(cluster: string): Promise<void> {
  const lines = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(lines, 10);
  const identity = identityOf(pid);
  // The pid may belong to somebody else by now: a postmaster is one by the folder it works in.
  if (identity === undefined || !(await worksIn(pid, cluster))) return;
  await endProcess(pid, identity, 'SIGINT', STOP_LIMIT_MS);
}

async function worksIn(pid: number, cluster: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    return cwd === (await realpath(cluster));
  }
  const { stdout } = await execa('ps', ['-o', 'command=', '-p', String(pid)], { reject: false });
  return stdout.includes('postgres') && stdout.includes(cluster);
}
