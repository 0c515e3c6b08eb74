import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import type { Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { NativeConnection } from '@temporalio/worker';
import { execa } from 'execa';
import { localActivities } from '../../activities/index.ts';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { openTemporal } from '../../client/pipelines/temporal.ts';
import { openTemporalAgent } from '../../client/pipelines/temporal/agent.ts';
import { agentRunIdOf, requestIdOf } from '../../core/agent/identity.ts';
import { orderIdOf, runIdOf } from '../../core/identity.ts';
import { anAsk } from '../support/agent-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';

const MAIN = fileURLToPath(new URL('../../replay/main.ts', import.meta.url));

/** Orders and agents on a queue of their own, which get as far as their first activity: nobody takes those there. */
export interface ReplayQueue {
  taskQueue: string;
  workflowIds: string[];
  /** Starts an order; returns its workflow id. */
  submit(): Promise<string>;
  /** Asks the agent; returns its workflow id. */
  ask(): Promise<string>;
  /** Runs what is there up to the first activity with the bundle in `file`; then nobody works any more. */
  work(file: string): Promise<void>;
  /** `npm run replay` as the user of this server and queue has it. */
  replay(...args: string[]): Promise<{ stdout: string; stderr: string; exitCode?: number }>;
  untilListed(count: number): Promise<unknown>;
  close(): Promise<void>;
}

export async function openReplayQueue({
  address,
  connection,
  native,
}: {
  address: string;
  connection: Connection;
  native: NativeConnection;
}): Promise<ReplayQueue> {
  const client = new Client({ connection });
  const taskQueue = `orders-${randomBytes(6).toString('hex')}`;
  const pipeline = await openTemporal({ connection, taskQueue });
  const agent = await openTemporalAgent({ connection, taskQueue });
  const workflowIds: string[] = [];
  const untilBegun = (workflowId: string) =>
    until(`${workflowId} waits for an activity`, async () => {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      return (raw.pendingActivities?.length ?? 0) > 0;
    });
  return {
    taskQueue,
    workflowIds,
    async submit() {
      const order = anOrder();
      const { kind } = await pipeline.submit(order, quickPolicy);
      assert.equal(kind, 'started');
      const workflowId = runIdOf(orderIdOf(order));
      workflowIds.push(workflowId);
      return workflowId;
    },
    async ask() {
      const asked = anAsk();
      const { kind } = await agent.ask(asked);
      assert.equal(kind, 'started');
      const workflowId = agentRunIdOf(requestIdOf(asked.request));
      workflowIds.push(workflowId);
      return workflowId;
    },
    async work(file) {
      const worker = await Worker.create({
        connection: native,
        taskQueue,
        workflowBundle: { codePath: file },
        activities: localActivities,
        enableNonLocalActivities: false,
      });
      await worker.runUntil(() => Promise.all(workflowIds.map(untilBegun)));
    },
    async replay(...args) {
      const { stdout, stderr, exitCode } = await execa(process.execPath, [MAIN, ...args], {
        env: {
          ...isolatedEnv(process.env),
          TEMPORAL_ADDRESS: address,
          Q2T_TASK_QUEUE: taskQueue,
        },
        extendEnv: false,
        reject: false,
      });
      return { stdout, stderr, ...(exitCode !== undefined && { exitCode }) };
    },
    untilListed: (count) =>
      until(`${count} open runs listed`, async () => {
        const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`;
        return (await client.workflow.count(query)).count === count;
      }),
    async close() {
      // Some have been ended by a test.
      const ended = workflowIds.map((id) =>
        client.workflow
          .getHandle(id)
          .terminate()
          .catch(() => undefined),
      );
      await Promise.all(ended);
    },
  };
}
