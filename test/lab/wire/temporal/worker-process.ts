import { DefaultLogger, Runtime } from '@temporalio/worker';
import { startWorker } from './worker.ts';
import type { WorkerSettings } from './worker.ts';

// A worker that can be killed: what it is told is on its command line, as JSON.
const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings; // Written by wired.ts.

Runtime.install({ logger: new DefaultLogger('ERROR') });
const { ended } = await startWorker(settings);
process.stdout.write('ready\n');
await ended;
