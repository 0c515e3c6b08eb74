import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Implementation } from '../../core/contract.ts';
import { controlPartners } from '../../partners/control.ts';
import { createDatabase } from '../../stack/databases.ts';
import { freePort } from '../../stack/ports.ts';
import { scriptProcess, startPartners, workerKinds } from '../../stack/parts.ts';
import type { SupervisedProcess } from '../../stack/process.ts';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { withoutGuard, type Guard } from '../guards/guard.ts';
import type { Ground } from './ground.ts';
import { labOrder, labPolicy } from './order.ts';
import { openSide } from './sides.ts';
import { wireUp } from './wired.ts';
import { handleOf } from './worker-process.ts';
import type { World, WorldOptions } from './world.ts';

/** A world of its own for one implementation: partners, a database, a task queue, no worker yet. */
export async function openWorld(
  ground: Ground,
  implementation: Implementation,
  options: WorldOptions = {},
): Promise<World> {
  const name = `${implementation}-${randomBytes(4).toString('hex')}`;
  const policy = { ...labPolicy, ...options.policy };
  const processes = new Set<SupervisedProcess>();
  const parts = {
    dataDir: join(ground.stack.dataDir, name),
    restart: false,
    onStart: (process: SupervisedProcess) => {
      ground.register(process);
      processes.add(process);
    },
  };
  const database = await createDatabase(ground.stack.postgres.urlOf('postgres'));
  const databaseUrl = database.url;
  const { url: partnersUrl } = await startPartners(undefined, parts);
  const { address, namespace } = ground.stack.temporal;
  const side = await openSide(implementation, {
    address,
    namespace,
    taskQueue: name,
    databaseUrl,
  });
  if (options.without) await change(databaseUrl, options.without);
  const wiring = options.wired ? await wireUp(implementation, { address, databaseUrl }) : undefined;
  const wired = () => {
    if (!wiring) throw new Error('this world has no wire: open it with `wired`');
    return wiring;
  };
  const guardEnv = options.without ? withoutGuard(options.without) : {};
  let workers = 0;
  let ingestPort: number | undefined;

  async function start(processName: string, script: string, env: NodeJS.ProcessEnv) {
    const worker = scriptProcess(processName, script, parts, {
      ...isolatedEnv(process.env),
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      DATABASE_URL: databaseUrl,
      PARTNERS_URL: partnersUrl,
      Q2T_TASK_QUEUE: name,
      Q2T_BUNDLE: ground.bundle,
      Q2T_STORE_DIR: join(parts.dataDir, 'store'),
      Q2T_STICKY_TIMEOUT_MS: '300',
      Q2T_VISIBILITY_MS: String(policy.heartbeatMs),
      ...wiring?.env(processName),
      ...guardEnv,
      ...env,
    });
    await worker.start();
    // At Temporal a worker is known by its process; in Postgres by the name of its connections.
    const clientOf = (pid: number) =>
      implementation === 'temporal' ? `${pid}@${hostname()}` : processName;
    return handleOf(worker, clientOf);
  }

  return {
    implementation,
    name,
    pipeline: side.pipeline,
    partners: controlPartners(partnersUrl),
    policy,
    databaseUrl,
    partnersUrl,
    guardEnv,
    temporal: { address, namespace },
    get wire() {
      return wired().wire;
    },
    get temporalWire() {
      const { temporalWire } = wired();
      if (!temporalWire) throw new Error(`${implementation} does not talk to Temporal`);
      return temporalWire;
    },
    watch: (id) => wired().watch(id),
    order: (orderRef, changes) => labOrder(name, orderRef, changes),
    forward: (id, ms) => side.forward(id, ms),
    startWorker: (env = {}) => {
      const { script } = workerKinds[implementation];
      return start(`worker-${++workers}`, script, { ...options.workerEnv, ...env });
    },
    bundleOf: (entry) => ground.bundleOf(entry),
    async startIngest() {
      // One port for all of them: who sends goes on where the one that was killed has been.
      ingestPort ??= await freePort();
      const handle = await start(`ingest-${++workers}`, 'workers/ingest.ts', {
        Q2T_INGEST_INTO: implementation,
        Q2T_INGEST_PORT: String(ingestPort),
      });
      return { ...handle, url: `http://127.0.0.1:${ingestPort}` };
    },
    async close() {
      await Promise.all([...processes].map((process) => process.kill()));
      await wiring?.wire.close();
      await side.close();
      await database.drop();
    },
  };
}

/** Takes away what a guard has in the database. */
async function change(databaseUrl: string, { sql = [] }: Guard): Promise<void> {
  if (sql.length === 0) return;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const statement of sql) await client.query(statement);
  } finally {
    await client.end();
  }
}
