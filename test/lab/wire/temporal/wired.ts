import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { startTemporalProxy } from '../../../../lab/wire/temporal/proxy.ts';
import type { TemporalProxy } from '../../../../lab/wire/temporal/proxy.ts';
import { temporalAddress } from '../../../support/temporal.ts';
import { startWorker } from './worker.ts';
import type { WorkerSettings } from './worker.ts';

export interface WorkerProcess {
  child: ChildProcess;
  identity: string;
  /** It polls. Rejects when it ended before. */
  ready: Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface Wired {
  proxy: TemporalProxy;
  /** Straight to the server. */
  client: Client;
  /** Workflow ids of a test are its own. */
  id: (name: string) => string;
  start: (workflow: string, id: string, ...args: unknown[]) => Promise<WorkflowHandle>;
  /** A worker as a process of its own, which can be killed; through the proxy unless told otherwise. */
  worker: (identity: string, address?: string) => Promise<WorkerProcess>;
  /** The same in this process, which starts in a fraction of the time. */
  guest: (identity: string, address?: string) => Promise<{ stop: () => Promise<void> }>;
  /** What the activities of a workflow did, in order: `charge attempt 1`. */
  effects: (id: string) => Promise<string[]>;
}

// Asked for before any test runs: server and bundle then live as long as the file.
export const serverAddress = await temporalAddress();
const folder = await mkdtemp(join(tmpdir(), 'q2t-wire-'));
after(() => rm(folder, { recursive: true, force: true }));
const bundle = join(folder, 'workflows.js');
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  logger: new DefaultLogger('WARN'),
});
await writeFile(bundle, code);

export interface Timeouts {
  workflowTaskMs: number;
  /** How long a dead worker's own queue keeps its tasks. */
  stickyMs: number;
}

/** Untouched by a slow machine: a task that takes its time must not become two. */
const PATIENT: Timeouts = { workflowTaskMs: 10_000, stickyMs: 10_000 };
/** For tests that kill: what was lost is noticed soon. */
export const IMPATIENT: Timeouts = { workflowTaskMs: 2_000, stickyMs: 300 };

/** A proxy, a client and a task queue of the test's own. Everything ends with the test. */
export async function wired(t: TestContext, timeouts = PATIENT): Promise<Wired> {
  const taskQueue = `wire-${randomUUID()}`;
  const effectsFile = join(folder, `${taskQueue}.txt`);
  await writeFile(effectsFile, '');
  const proxy = await startTemporalProxy({ upstream: serverAddress });
  const connection = await Connection.connect({ address: serverAddress });
  const client = new Client({ connection });
  const workers: WorkerProcess[] = [];
  const guests = new Set<() => Promise<void>>();
  const settingsOf = (identity: string, address: string): WorkerSettings => ({
    address,
    taskQueue,
    identity,
    bundle,
    effects: effectsFile,
    stickyMs: timeouts.stickyMs,
  });
  t.after(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await Promise.all([...guests].map((stop) => stop()));
    await proxy.close();
    await connection.close();
  });
  return {
    proxy,
    client,
    id: (name) => `${taskQueue}/${name}`,
    start: (workflow, id, ...args) =>
      client.workflow.start(workflow, {
        workflowId: id,
        taskQueue,
        args,
        workflowTaskTimeout: timeouts.workflowTaskMs,
        workflowExecutionTimeout: '1 minute',
      }),
    async worker(identity, address = proxy.address) {
      const worker = spawnWorker(settingsOf(identity, address));
      workers.push(worker);
      await worker.ready;
      return worker;
    },
    async guest(identity, address = proxy.address) {
      const worker = await startWorker(settingsOf(identity, address));
      const stop = async () => {
        guests.delete(stop);
        await worker.stop();
      };
      guests.add(stop);
      return { stop };
    },
    async effects(id) {
      const lines = (await readFile(effectsFile, 'utf8')).split('\n');
      return lines
        .filter((line) => line.startsWith(`${id} `))
        .map((line) => line.slice(id.length + 1));
    },
  };
}

function spawnWorker(settings: WorkerSettings): WorkerProcess {
  const file = fileURLToPath(new URL('worker-process.ts', import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const ready = Promise.race([
    once(child.stdout, 'data'),
    exited.then(() => Promise.reject(new Error(`worker ${settings.identity} did not start`))),
  ]).then(() => undefined);
  return {
    child,
    identity: settings.identity,
    ready,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
