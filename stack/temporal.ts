import { Connection } from '@temporalio/client';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { isolatedEnv } from '../client/isolated-env.mjs';
import { freePort } from './ports.ts';
import { SupervisedProcess, type PartOptions } from './process.ts';
import { ensureTemporal } from './temporal-binary.ts';

export interface TemporalServerOptions extends PartOptions {
  /** Keep everything in a file, so that a killed server goes on where it was. Default: in memory. */
  persistent?: boolean;
  /** Default: free ones. */
  port?: number;
  uiPort?: number;
  /** Default `default`. */
  namespace?: string;
  /** More of the server's dynamic configuration, values in JSON. */
  dynamicConfig?: Readonly<Record<string, string>>;
}

/** A Temporal development server of our own on loopback. */
export interface TemporalServer {
  process: SupervisedProcess;
  /** host:port of its gRPC. */
  address: string;
  namespace: string;
  uiUrl: string;
}

const dynamicConfig: Readonly<Record<string, string>> = {
  // Lets a test or the demo move one run's clock by days.
  'frontend.WorkflowTimeSkippingEnabled': 'true',
  // Each timer skipped costs a second at the server's own setting.
  'history.timerProcessorMaxTimeShift': '"20ms"',
  // A run whose code can't replay is marked after two failed tasks, ten seconds, instead of five.
  'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute': '2',
  // And is tried again soon when there is other code for it: the server's own limit is ten minutes.
  'history.workflowTaskRetryMaxInterval': '"5s"',
  // Whether an old version of the workers still has runs is looked at every second, not every three minutes.
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod': '"1s"',
  'matching.wv.VersionDrainageStatusRefreshInterval': '"1s"',
};

/** Starts the server and waits until its namespace answers. Throws with the end of its log when it does not. */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { dataDir, persistent = false, namespace = 'default', restart, onDeath, onStart } = options;
  await mkdir(dataDir, { recursive: true });
  const [binary, port, uiPort] = await Promise.all([
    ensureTemporal(),
    options.port ?? freePort(),
    options.uiPort ?? freePort(),
  ]);
  const settings = Object.entries({ ...dynamicConfig, ...options.dynamicConfig });
  const data = persistent ? ['--db-filename', join(dataDir, 'temporal.sqlite')] : [];
  const server = new SupervisedProcess({
    name: 'temporal',
    file: binary.path,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'],
      ...['--port', String(port), '--ui-port', String(uiPort), '--namespace', namespace],
      ...data,
      ...settings.flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
    ],
    env: isolatedEnv(process.env),
    cwd: dataDir,
    logFile: join(dataDir, 'logs', 'temporal.log'),
    pidFile: join(dataDir, 'run', 'temporal.json'),
    readiness: { kind: 'probe', probe: () => answers(port, namespace) },
    stopSignal: 'SIGTERM',
    ...(restart !== undefined && { restart }),
    ...(onDeath && { onDeath }),
    ...(onStart && { onStart }),
  });
  await server.start();
  return {
    process: server,
    address: `127.0.0.1:${port}`,
    namespace,
    uiUrl: `http://127.0.0.1:${uiPort}`,
  };
}

async function answers(port: number, namespace: string): Promise<void> {
  // First without gRPC, whose channels remember a refused connection and then wait a second.
  await accepts(port);
  const address = `127.0.0.1:${port}`;
  const connection = await Connection.connect({ address, connectTimeout: 5_000 });
  try {
    await connection.withDeadline(Date.now() + 2_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } finally {
    await connection.close();
  }
}

function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
