import { join } from 'node:path';
import { isolatedEnv } from '../client/isolated-env.mjs';
import { ORDER_TASK_QUEUE } from '../workflows/search-attributes.ts';
import { openDataDir, type DataDir } from './data-dir.ts';
import { PARTS, type ExternalTemporal, type Part, type StackOptions } from './options.ts';
import {
  bundleWorkflows,
  checkDatabase,
  scriptProcess,
  startDatabase,
  startPartners,
  startTemporal,
  workerKinds,
  type WorkerKind,
} from './parts.ts';
import type { Postgres } from './postgres.ts';
import type { PartOptions, SupervisedProcess } from './process.ts';
import type { TemporalServer } from './temporal.ts';

/** Starts the parts, those that don't need each other at the same time. When one fails, none is left running. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const stack = new Stack(options);
  await stack.start();
  return stack;
}

/** Everything an order needs, with a handle on each process. Reading a part that was not asked for throws. */
export class Stack {
  readonly taskQueue: string;
  readonly workers: SupervisedProcess[] = [];
  readonly #options: StackOptions;
  readonly #processes: SupervisedProcess[] = [];
  readonly #found: {
    dataDir?: DataDir;
    postgres?: Postgres;
    databaseUrl?: string;
    temporal?: ExternalTemporal;
    temporalServer?: TemporalServer;
    partners?: SupervisedProcess;
    partnersUrl?: string;
    bundle?: string;
  } = {};
  #started: Promise<void> | undefined;
  #stopped = false;

  constructor(options: StackOptions) {
    this.#options = options;
    this.taskQueue = options.taskQueue ?? ORDER_TASK_QUEUE;
    const { databaseUrl, partnersUrl } = options.external ?? {};
    Object.assign(this.#found, { databaseUrl, partnersUrl });
  }

  get dataDir(): string {
    return given(this.#found.dataDir, 'data folder').path;
  }
  /** Has a claim-check store for each implementation, in a folder of its name. */
  get storeDir(): string {
    return join(this.dataDir, 'store');
  }
  /** Connection URL of the project's database, with its password. */
  get databaseUrl(): string {
    return given(this.#found.databaseUrl, 'database');
  }
  get partnersUrl(): string {
    return given(this.#found.partnersUrl, 'partners');
  }
  get temporal(): ExternalTemporal {
    return given(this.#found.temporal, 'Temporal server');
  }
  /** The embedded ones. Each throws when the stack uses somebody's own. */
  get postgres(): Postgres {
    return given(this.#found.postgres, 'Postgres of its own');
  }
  get temporalServer(): TemporalServer {
    return given(this.#found.temporalServer, 'Temporal server of its own');
  }
  get partners(): SupervisedProcess {
    return given(this.#found.partners, 'partners of its own');
  }
  /** Temporal's web page, undefined when the server is somebody's own. */
  get uiUrl(): string | undefined {
    return this.#found.temporalServer?.uiUrl;
  }

  /** Resolves when every part is ready; on failure stops what had started and throws. */
  start(): Promise<void> {
    this.#started ??= this.#startParts().catch(async (error: unknown) => {
      await this.#stopProcesses();
      await this.#found.dataDir?.close();
      throw error;
    });
    return this.#started;
  }

  /** Stops every process and waits until it is gone, also while the stack is still starting. */
  async stop(): Promise<void> {
    this.#stopped = true;
    // Once so that a start in progress gives up, and again for what it had begun meanwhile.
    await this.#stopProcesses();
    await this.#started?.catch(() => undefined);
    await this.#stopProcesses();
    await this.#found.dataDir?.close();
  }

  /** Kills everything at once: for a user who doesn't want to wait. */
  async kill(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#processes.map((process) => process.kill()));
  }

  /** Starts one more worker; `extra` wins over the environment that the stack gives it. */
  async addWorker(
    kind: WorkerKind = 'temporal',
    extra: NodeJS.ProcessEnv = {},
  ): Promise<SupervisedProcess> {
    const name = `${kind}-worker-${this.workers.length + 1}`;
    const { script } = workerKinds[kind];
    const worker = scriptProcess(name, script, this.#partOptions(), {
      ...isolatedEnv(process.env),
      ...this.#temporalEnv(),
      DATABASE_URL: this.databaseUrl,
      PARTNERS_URL: this.partnersUrl,
      Q2T_TASK_QUEUE: this.taskQueue,
      Q2T_BUNDLE: this.#found.bundle,
      Q2T_STORE_DIR: join(this.storeDir, kind),
      ...this.#options.workerEnv,
      ...extra,
    });
    this.workers.push(worker);
    await worker.start();
    return worker;
  }

  async #startParts(): Promise<void> {
    const { parts = PARTS, external = {}, ports = {}, workerEnv = {} } = this.#options;
    this.#found.dataDir = await openDataDir(this.#options.dataDir);
    const wants = (part: Part) => parts.includes(part);
    const options = this.#partOptions();
    const begin = <T>(label: string, wanted: boolean, start: () => Promise<T>) => {
      if (!wanted) return Promise.resolve(undefined);
      this.#options.onProgress?.(label);
      return start();
    };
    const temporalLabel = external.temporal ? 'Reaching your Temporal' : 'Starting Temporal';
    await settleAll([
      begin('Starting Postgres', wants('postgres') && !external.databaseUrl, async () => {
        const { postgres, url } = await startDatabase(ports.postgres, options);
        Object.assign(this.#found, { postgres, databaseUrl: url });
      }),
      begin('Reaching your Postgres', !!external.databaseUrl, () =>
        checkDatabase(this.databaseUrl),
      ),
      begin(temporalLabel, wants('temporal') || !!external.temporal, async () => {
        const settings = {
          persistent: this.#options.dataDir !== undefined,
          ...(ports.temporal !== undefined && { port: ports.temporal }),
          ...(ports.temporalUi !== undefined && { uiPort: ports.temporalUi }),
        };
        const { server, target } = await startTemporal(external.temporal, settings, options);
        Object.assign(this.#found, { temporalServer: server, temporal: target });
      }),
      begin('Starting the partners', wants('partners') && !external.partnersUrl, async () => {
        const { partners, url } = await startPartners(ports.partners, options);
        Object.assign(this.#found, { partners, partnersUrl: url });
      }),
      begin('Bundling the workflows', wants('workers') && !workerEnv['Q2T_BUNDLE'], async () => {
        this.#found.bundle = await bundleWorkflows(this.dataDir);
      }),
    ]);
    await begin('Starting the workers', wants('workers'), () => this.#startWorkers());
  }

  async #startWorkers(): Promise<void> {
    const { workers = 1 } = this.#options;
    const kinds = Object.keys(workerKinds) as WorkerKind[]; // `Object.keys` forgets the type
    const wanted = kinds.flatMap((kind) => {
      const count = typeof workers === 'number' ? workers : (workers[kind] ?? 0);
      return Array.from({ length: count }, () => kind);
    });
    await settleAll(wanted.map((kind) => this.addWorker(kind)));
  }

  #temporalEnv(): NodeJS.ProcessEnv {
    const { address, namespace, workerEnv } = this.temporal;
    return workerEnv ?? { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  }

  #partOptions(): PartOptions {
    const { restart = false, onDeath } = this.#options;
    return {
      dataDir: this.dataDir,
      restart,
      ...(onDeath && { onDeath }),
      onStart: (process) => {
        if (this.#stopped) throw new Error('it was stopped');
        if (!this.#processes.includes(process)) this.#processes.push(process);
      },
    };
  }

  /** In the reverse of the order of need: a worker that ends still talks to all the others. */
  async #stopProcesses(): Promise<void> {
    const rank = (process: SupervisedProcess) =>
      this.workers.includes(process) ? 0 : process.name === 'postgres' ? 2 : 1;
    for (const wanted of [0, 1, 2]) {
      const group = this.#processes.filter((process) => rank(process) === wanted);
      await settleAll(group.map((process) => process.stop()));
    }
  }
}

/** Waits for all of them, also when one fails: nothing goes on unseen. Throws what failed first. */
async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises);
  await Promise.all(promises);
}

function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`this stack has no ${what}`);
  return value;
}
