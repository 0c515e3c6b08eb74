// Plain JavaScript without dependencies: the bootstrap needs it on Node 18, before anything is installed.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long the taking-over of a stale lock may take before it counts as abandoned itself. */
const BREAKER_LIMIT_MS = 10_000;
const POLL_MS = 200;

/**
 * Which process this pid is: the pid together with when it started, so that a recycled pid is never
 * taken for the old process. Undefined when there is none, or when it is a zombie.
 */
export function identityOf(pid) {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === 'linux' ? linuxIdentity(pid) : psIdentity(pid);
}

function linuxIdentity(pid) {
  try {
    // The command's name may hold spaces and brackets: the fixed fields begin after the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    // Start times count from the boot, so two boots could agree on one.
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${pid}:${fields[19]}:${boot}`;
  } catch {
    return undefined;
  }
}

function psIdentity(pid) {
  try {
    const args = ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)];
    const line = execFileSync('ps', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [state = 'Z', ...started] = line.trim().split(/\s+/);
    return state.startsWith('Z') ? undefined : `${pid}:${started.join(' ')}`;
  } catch {
    return undefined;
  }
}

/** True while the process that `identity` (from `identityOf`) names is alive. */
export function isAlive(pid, identity) {
  return identity !== undefined && identityOf(pid) === identity;
}

/**
 * Takes the lock `file` for this process, or says who holds it. A lock whose holder is dead is taken
 * over. Returns `{ release }` or `{ holder: { pid, since } }`.
 */
export function tryLock(file) {
  mkdirSync(dirname(file), { recursive: true });
  const content = JSON.stringify({
    pid: process.pid,
    identity: identityOf(process.pid),
    since: new Date().toISOString(),
    nonce: randomBytes(8).toString('hex'),
  });
  // Written aside and linked: a lock file is never seen half written.
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, content);
  try {
    for (;;) {
      if (link(draft, file)) return { release: () => release(file, content) };
      const holder = readHolder(file);
      if (holder && isAlive(holder.pid, holder.identity)) return { holder };
      if (!removeStale(file)) return { holder: holder ?? { pid: 0, since: 'unknown' } };
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Takes the lock `file`, waiting for as long as a live process holds it. Calls `onWait(holder)` once. */
export async function takeLock(file, onWait = () => {}) {
  for (let waited = false; ; waited = true) {
    const lock = tryLock(file);
    if (lock.release) return lock.release;
    if (!waited) onWait(lock.holder);
    await sleep(POLL_MS);
  }
}

function link(draft, file) {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function release(file, content) {
  try {
    if (readFileSync(file, 'utf8') === content) rmSync(file, { force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Removes a dead process's lock. One at a time and looking again: of two that saw the same stale lock,
 * the slower one would otherwise delete the lock that the faster one has taken meanwhile.
 */
function removeStale(file) {
  const breaker = `${file}.breaking`;
  let handle;
  try {
    handle = openSync(breaker, 'wx');
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const age = Date.now() - (statSync(breaker, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > BREAKER_LIMIT_MS) rmSync(breaker, { force: true });
    return false;
  }
  try {
    const holder = readHolder(file);
    if (!holder || !isAlive(holder.pid, holder.identity)) rmSync(file, { force: true });
    return true;
  } finally {
    closeSync(handle);
    rmSync(breaker, { force: true });
  }
}
