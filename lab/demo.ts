import { Client, Connection } from '@temporalio/client';
import { openTemporal } from '../client/pipelines/temporal.ts';
import { controlPartners } from '../partners/control.ts';
import { Stack } from '../stack/stack.ts';
import {
  approve,
  killTheWorker,
  passTheWeeks,
  submitOrders,
  untilAllEnded,
  type Stage,
} from './demo/acts.ts';
import { Narrator } from './demo/narrator.ts';
import { demoOrders } from './demo/orders.ts';
import { judge, tableOf } from './demo/verdict.ts';
import { fastForward } from './time/temporal.ts';

/**
 * `npm run demo`: real orders on a real Temporal server, a worker killed in the middle, a person's
 * answer, weeks that pass. Exits 0 only when every order ended as it must and the partners counted
 * every effect once, 1 otherwise, 128 + n after signal n. Leaves nothing running.
 */
const DAYS_AHEAD = 25;
const DAY_MS = 86_400_000;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const narrator = new Narrator();
const stack = new Stack({
  onProgress: (line) => narrator.say(line),
  // A dead worker's runs stay reserved for it this long.
  workerEnv: { Q2T_STICKY_TIMEOUT_MS: '1000' },
});

const interrupted = Promise.withResolvers<number>();
for (const [signal, exitCode] of Object.entries(SIGNALS)) {
  process.once(signal, () => {
    narrator.say(`${signal}: stopping everything.`);
    interrupted.resolve(exitCode);
  });
}
let exitCode = 1;
try {
  exitCode = await Promise.race([perform(), interrupted.promise]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
} finally {
  await stack.stop();
}
// What an interruption left hanging in the air has nothing to talk to any more.
process.exit(exitCode);

async function perform(): Promise<number> {
  await stack.start();
  const [worker] = stack.workers;
  if (!worker) throw new Error('the stack came without a worker');
  narrator.say(`Temporal's web page, while this runs: ${stack.uiUrl}`);
  const { address, namespace } = stack.temporal;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const pipeline = await openTemporal({ connection, namespace, taskQueue: stack.taskQueue });
  const stage: Stage = {
    narrator,
    pipeline,
    worker,
    partners: controlPartners(stack.partnersUrl),
    startWorker: () => stack.addWorker(),
    forward: async (workflowId, ms) => {
      await fastForward(client, workflowId, ms);
    },
    orders: demoOrders(new Date(Date.now() + DAYS_AHEAD * DAY_MS).toISOString().slice(0, 10)),
  };
  await submitOrders(stage);
  await killTheWorker(stage);
  await approve(stage);
  await passTheWeeks(stage);
  await untilAllEnded(stage);
  const rows = await judge(stage);
  await connection.close();
  const right = rows.every(({ wrong }) => wrong.length === 0);
  console.log(tableOf(rows));
  narrator.say(
    right
      ? 'Every order ended as it must, and the partners counted every effect once.'
      : 'Something is not as it must be: see the last column.',
  );
  return right ? 0 : 1;
}
