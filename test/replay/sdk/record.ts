import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { execa } from 'execa';
import { formatHistory, HISTORIES_DIR } from '../../../replay/history/file.ts';
import {
  eachObject,
  eachText,
  isObject,
  type Json,
  type JsonObject,
} from '../../../replay/history/json.ts';
import { withReadablePayloads } from '../../../replay/history/payloads.ts';
import { startTemporalServer } from '../../../stack/temporal.ts';

/**
 * Records the workflows beside it on another version of the SDK, brought from npm for that, to
 * test/histories/sdk-<version>/. Usage, before the project takes a new SDK: node test/replay/sdk/record.ts VERSION,
 * with the version that it leaves.
 */
const [sdk = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(sdk)) throw new Error('which version of the SDK? record.ts 1.23.0');

const PACKAGES = ['activity', 'client', 'common', 'worker', 'workflow'];
/**
 * Who did it, on which machine. Ids of runs stay, unlike in the recordings of orders: what the SDK draws
 * at random it draws from them. So does the build id, by which it knows its own versions of 1.11.
 */
const WHO = new Set(['identity', 'requestId', 'taskId', 'historySizeBytes']);

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const dir = await mkdtemp(join(tmpdir(), 'q2t-sdk-'));
try {
  await writeFile(join(dir, 'package.json'), '{"private":true,"type":"module"}');
  const packages = PACKAGES.map((name) => `@temporalio/${name}@${sdk}`);
  const npm = ['install', '--no-audit', '--no-fund', '--save-exact', ...packages];
  await execa('npm', npm, { cwd: dir, stdio: 'inherit' });
  for (const file of ['run.ts', 'workflows.ts']) await copyFile(here(file), join(dir, file));
  const server = await startTemporalServer({ dataDir: join(dir, 'server') });
  try {
    const run = [join(dir, 'run.ts'), server.address];
    await execa(process.execPath, run, { cwd: dir, stdio: 'inherit', timeout: 120_000 });
    await writeAll(server.address);
  } finally {
    await server.process.stop();
  }
} finally {
  await rm(dir, { recursive: true, force: true });
}

async function writeAll(address: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    const folder = join(HISTORIES_DIR, `sdk-${sdk}`);
    await mkdir(folder, { recursive: true });
    for (const path of ['traveller', 'careful', 'careless']) {
      const workflowId = `sdk/${path}`;
      const facts = { stage: `sdk-${sdk}`, path, workflowId, sdk, server: serverVersion ?? '' };
      const events = await recorded(client, workflowId);
      await writeFile(join(folder, `${path}.json`), formatHistory(facts, events));
    }
  } finally {
    await connection.close();
  }
}

async function recorded(client: Client, workflowId: string): Promise<Json[]> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  const readable = withReadablePayloads(JSON.parse(historyToJSON(history)) as Json);
  const events = isObject(readable) ? readable['events'] : undefined;
  if (!Array.isArray(events)) throw new Error(`${workflowId} has no events`);
  return events.map((event) => eachText(eachObject(event, withoutWho), withoutSticky));
}

function withoutWho(object: JsonObject): JsonObject | undefined {
  const names = Object.keys(object);
  if (!names.some((name) => WHO.has(name))) return undefined;
  const kept = names.filter((name) => !WHO.has(name));
  return Object.fromEntries(
    kept.map((name) => [name, eachObject(object[name] ?? null, withoutWho)]),
  );
}

/** A worker's own queue is named after its process and machine. */
function withoutSticky(text: string): string {
  return text.replace(/^\d+@.*$/, 'sticky');
}
