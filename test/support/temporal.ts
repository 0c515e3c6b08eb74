import { AsyncResource } from 'node:async_hooks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { DefaultLogger, Runtime, bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundleOption } from '@temporalio/worker';

/** Workers of tests report what is wrong and nothing else. Before the first worker of the process. */
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });

// What is started inside a `before` hook would be stopped with that hook: `after` belongs to the file.
const file = new AsyncResource('test file');

let address: Promise<string> | undefined;
let bundle: Promise<WorkflowBundleOption> | undefined;

/** The address of the run's Temporal server, or of one of this process's own when there is no run around it. */
export function temporalAddress(): Promise<string> {
  const shared = process.env['Q2T_TEST_TEMPORAL'];
  address ??= shared === undefined ? startOwn() : Promise.resolve(shared);
  return address;
}

/** The run's bundle of the workflows, or one made now. */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  const shared = process.env['Q2T_TEST_BUNDLE'];
  bundle ??= shared === undefined ? makeBundle() : Promise.resolve({ codePath: shared });
  return bundle;
}

function makeBundle(): Promise<WorkflowBundleOption> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
    logger: new DefaultLogger('WARN', ({ message }) => {
      throw new Error(`the bundle has a warning: ${message}`);
    }),
  });
}

async function startOwn(): Promise<string> {
  const { startTemporalServer } = await import('../../stack/temporal.ts');
  const { registerSearchAttributes } = await import('../../stack/search-attributes.ts');
  const dataDir = await mkdtemp(join(tmpdir(), 'q2t-temporal-'));
  const server = await startTemporalServer({ dataDir });
  file.runInAsyncScope(() =>
    after(async () => {
      await server.process.stop();
      await rm(dataDir, { recursive: true, force: true });
    }),
  );
  const connection = await Connection.connect({ address: server.address });
  await registerSearchAttributes(connection, server.namespace);
  await connection.close();
  return server.address;
}
