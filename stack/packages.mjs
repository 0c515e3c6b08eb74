import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from './lock.mjs';
import { runWithProgress, say } from './progress.mjs';
import { projectRoot, stateDir, underNode, withoutNpmRun } from './runtime.mjs';

/**
 * Installs the npm packages with `npm ci` when node_modules is missing or is not what
 * package-lock.json says. Throws with npm's own words when that fails.
 */
export async function ensurePackages(node) {
  if (packagesMatch()) return;
  const release = await takeLock(join(stateDir, 'bootstrap.lock'), (holder) =>
    say(`Waiting for process ${holder.pid}, which is installing …`),
  );
  try {
    if (packagesMatch()) return;
    const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
    await runWithProgress('Installing npm packages (once, about 400 MB)', 'npm', args, {
      cwd: projectRoot,
      env: underNode(node, withoutNpmRun(process.env)),
    });
  } finally {
    release();
  }
}

/**
 * Whether node_modules holds what package-lock.json says. npm's own list of what it installed is missing
 * after an interrupted install and knows the hashes, but `npm install --package-lock-only` writes it
 * without installing anything: so the packages are looked at too, some 25 ms for all of them.
 */
export function packagesMatch(root = projectRoot) {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  const listed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  if (!wanted || !listed) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = listed[path];
    if (!found) return entry.optional === true && !fitsHere(entry);
    if (found.version !== entry.version || found.integrity !== entry.integrity) return false;
    return readJson(join(root, path, 'package.json'))?.version === entry.version;
  });
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Whether npm installs this optional package on this machine. Which libc it has is npm's to say, so those may be missing. */
function fitsHere({ os, cpu, libc }) {
  if (libc) return false;
  return (!os || os.includes(process.platform)) && (!cpu || cpu.includes(process.arch));
}
