import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { endProcess, stopLeftBehind } from './left-behind.ts';
import { tryLock } from './lock.mjs';
import { stateDir } from './runtime.mjs';
import { defaultDataDir, upLock } from './up-files.ts';

/**
 * `npm run down`: stops the `up` of this checkout and what a killed one has left behind; with `--erase`
 * deletes the data as well. Uses no packages, so it works where nothing is installed.
 */
const STOP_LIMIT_MS = 90_000;
const LEFT_BEHIND_LIMIT_MS = 15_000;
const upFile = join(stateDir, 'up.json');

const { values } = parseArgs({
  options: { erase: { type: 'boolean', default: false }, 'data-dir': { type: 'string' } },
});
const dataDir = resolve(values['data-dir'] ?? dataDirOfUp() ?? defaultDataDir);

await stopUp();
await stopAllLeftBehind();
rmSync(upFile, { force: true });
if (values.erase) erase();

async function stopUp(): Promise<void> {
  const lock = tryLock(upLock);
  if (lock.release) {
    lock.release();
    console.log('Nothing is up.');
    return;
  }
  const { pid, identity, since } = lock.holder;
  if (identity === undefined) throw new Error(`${upLock} can't be read: delete it`);
  console.log(`Stopping process ${pid}, up since ${since} …`);
  await endProcess(pid, identity, 'SIGTERM', STOP_LIMIT_MS);
  console.log('Stopped.');
}

async function stopAllLeftBehind(): Promise<void> {
  const runDir = join(dataDir, 'run');
  const files = existsSync(runDir) ? readdirSync(runDir) : [];
  await Promise.all(
    files.map(async (file) => {
      // Postgres takes SIGINT as "stop now, in order"; for SIGTERM it would wait for its clients.
      const signal = file === 'postgres.json' ? 'SIGINT' : 'SIGTERM';
      if (await stopLeftBehind(join(runDir, file), signal, LEFT_BEHIND_LIMIT_MS)) {
        console.log(`Stopped ${file.replace('.json', '')}, which a killed \`up\` had left behind.`);
      }
    }),
  );
}

function erase(): void {
  const known = ['postgres', 'postgres.json', 'temporal.sqlite', 'partners.jsonl', 'logs', 'lock'];
  if (!existsSync(dataDir)) {
    console.log('There is no data to erase.');
    return;
  }
  // A mistyped folder must not cost somebody their files.
  if (!known.some((name) => existsSync(join(dataDir, name)))) {
    throw new Error(`${dataDir} does not look like a data folder of \`npm run up\`: not erased`);
  }
  rmSync(dataDir, { recursive: true, force: true });
  console.log(`Erased ${dataDir}.`);
}

/** By hand: target.ts, which knows the whole file, needs packages. */
function dataDirOfUp(): string | undefined {
  try {
    const up: unknown = JSON.parse(readFileSync(upFile, 'utf8'));
    if (typeof up !== 'object' || up === null || !('dataDir' in up)) return undefined;
    return typeof up.dataDir === 'string' ? up.dataDir : undefined;
  } catch {
    return undefined;
  }
}
