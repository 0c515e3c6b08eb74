import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import type { OrderBench } from '../support/order-bench.ts';

type Where = Pick<OrderBench, 'address' | 'partnersUrl' | 'databaseUrl' | 'taskQueue'>;

const LIMIT_MS = 60_000;
const script = fileURLToPath(new URL('../../workers/temporal.ts', import.meta.url));

/** Runs the workers as the process that users start, and nothing in its environment but `env`. */
export function runWorkerScript(env: NodeJS.ProcessEnv) {
  return execa(process.execPath, [script], {
    env: { ...isolatedEnv(process.env), ...env },
    extendEnv: false,
    reject: false,
    // Ends the process with the test, whatever happens in it.
    cleanup: true,
    timeout: LIMIT_MS,
  });
}

/** The same, as a worker of the bench. */
export function startWorkerProcess(bench: Where, env: NodeJS.ProcessEnv = {}) {
  const bundle = process.env['Q2T_TEST_BUNDLE'];
  return runWorkerScript({
    TEMPORAL_ADDRESS: bench.address,
    PARTNERS_URL: bench.partnersUrl,
    DATABASE_URL: bench.databaseUrl,
    Q2T_TASK_QUEUE: bench.taskQueue,
    Q2T_STICKY_TIMEOUT_MS: '300',
    ...(bundle === undefined ? {} : { Q2T_BUNDLE: bundle }),
    ...env,
  });
}
