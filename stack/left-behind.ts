import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isAlive } from './lock.mjs';

const POLL_MS = 50;

/** Notes which process was started, in `pidFile`, for `stopLeftBehind` of a later start. */
export function rememberProcess(pidFile: string, pid: number | undefined): void {
  const identity = pid === undefined ? undefined : identityOf(pid);
  if (identity === undefined) return;
  mkdirSync(dirname(pidFile), { recursive: true });
  writeFileSync(pidFile, JSON.stringify({ pid, identity }));
}

/**
 * Stops the process that `pidFile` remembers, when its parent was killed and it lives on. A pid that
 * meanwhile belongs to another process is left alone. Returns whether there was one.
 */
export async function stopLeftBehind(
  pidFile: string,
  stopSignal: NodeJS.Signals,
  limitMs: number,
): Promise<boolean> {
  const remembered = readPidFile(pidFile);
  const found = remembered !== undefined && isAlive(remembered.pid, remembered.identity);
  if (found) await endProcess(remembered.pid, remembered.identity, stopSignal, limitMs);
  rmSync(pidFile, { force: true });
  return found;
}

/** Sends `stopSignal`, and SIGKILL when the process is still there after `limitMs`; waits until it is gone. */
export async function endProcess(
  pid: number,
  identity: string,
  stopSignal: NodeJS.Signals,
  limitMs: number,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  let forced = false;
  send(pid, stopSignal);
  while (isAlive(pid, identity)) {
    if (!forced && Date.now() > deadline) {
      send(pid, 'SIGKILL');
      forced = true;
    }
    await sleep(POLL_MS);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has just ended: what we wanted.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

// By hand and not with zod: `npm run down` must work where nothing is installed.
function readPidFile(pidFile: string): { pid: number; identity: string } | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(pidFile, 'utf8'));
    if (typeof content !== 'object' || content === null) return undefined;
    const { pid, identity } = { pid: undefined, identity: undefined, ...content };
    return typeof pid === 'number' && typeof identity === 'string' ? { pid, identity } : undefined;
  } catch {
    // Missing, or half written by a parent that was killed: then there is nothing to go by.
    return undefined;
  }
}
