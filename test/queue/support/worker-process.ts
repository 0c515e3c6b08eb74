import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isolatedEnv } from '../../../client/isolated-env.mjs';

const WORKER = fileURLToPath(new URL('../../../workers/queue.ts', import.meta.url));

/** A worker as a process of its own: the thing that gets killed. */
export interface WorkerProcess {
  pid: number;
  /** The lines it logged, newest last. */
  log: Record<string, unknown>[];
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void;
  /** Resolves with its exit code; null when a signal ended it. */
  exited: Promise<number | null>;
  /** The port of its health endpoint and metrics. */
  port: number;
}

/** Starts `workers/queue.ts` and resolves when it is ready. Throws, with its log, when it ends before. */
export async function startWorkerProcess(
  { databaseUrl, partnersUrl }: { databaseUrl: string; partnersUrl: string },
  env: Record<string, string> = {},
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [WORKER], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...isolatedEnv(process.env),
      DATABASE_URL: databaseUrl,
      PARTNERS_URL: partnersUrl,
      // A test asks the scripted model, whatever its user has set.
      OPENAI_BASE_URL: undefined,
      AGENT_MODEL: undefined,
      Q2T_ORDERS: '4',
      Q2T_LINES: '4',
      Q2T_MAILS: '2',
      Q2T_VISIBILITY_MS: '1000',
      Q2T_TIMER_EVERY_MS: '50',
      ...env,
    },
  });
  const log: Record<string, unknown>[] = [];
  const exited = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
  const ready = new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry: unknown = JSON.parse(line);
      if (typeof entry !== 'object' || entry === null) return;
      log.push({ ...entry });
      if ('msg' in entry && entry.msg === 'ready') {
        resolve('port' in entry && typeof entry.port === 'number' ? entry.port : 0);
      }
    });
    void exited.then((code) => reject(new Error(`ended with ${code}: ${JSON.stringify(log)}`)));
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the worker did not start');
  const port = await ready;
  return { pid, log, exited, port, signal: (name) => void child.kill(name) };
}
