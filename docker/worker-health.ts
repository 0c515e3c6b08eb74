import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { ORDER_TASK_QUEUE } from '../workflows/search-attributes.ts';

/** A worker that has not asked for work for this long is none; a poll takes 60 s at most. */
const SEEN_WITHIN_MS = 120_000;

/**
 * The health check of a worker's container: exit 0 when the server has lately been asked for work by
 * this host. A process that runs but has lost its server is not healthy.
 */
const { connectionOptions, namespace } = loadClientConnectConfig();
const connection = await Connection.connect({ ...connectionOptions, connectTimeout: '5s' });
try {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace: namespace ?? 'default',
    taskQueue: { name: process.env['Q2T_TASK_QUEUE'] ?? ORDER_TASK_QUEUE },
    taskQueueType: 1,
  });
  // The SDK names a worker `pid@host`, and a container's host name is its own.
  const mine = (pollers ?? []).filter((poller) => poller.identity?.endsWith(`@${hostname()}`));
  const ages = mine.map(
    (poller) => Date.now() - Number(poller.lastAccessTime?.seconds ?? 0) * 1000,
  );
  const healthy = ages.some((age) => age < SEEN_WITHIN_MS);
  process.stdout.write(
    healthy ? 'polling\n' : `not polling, ${mine.length} pollers of this host\n`,
  );
  process.exitCode = healthy ? 0 : 1;
} finally {
  await connection.close();
}
