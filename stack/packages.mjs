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
 * npm writes the list of what it installed last of all, so this is the stamp: it is missing after an
 * interrupted install, and right after an `npm install` by hand.
 */
export function packagesMatch(root = projectRoot) {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = installed[path];
    if (!found) return entry.optional === true && !fitsHere(entry);
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Whether npm installs this optional package on this machine. Which libc it has is npm's to say, so those may be missing. */
function fitsHere({ os, cpu, libc }) {
  if (libc) return false;
  return (!os || os.includes(process.platform)) && (!cpu || cpu.includes(process.arch));
}
