import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { orderIdOf, runIdOf } from '../../core/identity.ts';
import { untilPosition } from '../../lab/observe/until.ts';
import type { World, WorkerHandle } from '../../lab/world/world.ts';
import { copySources } from '../../replay/changes/change.ts';
import { answer } from './answer.ts';
import type { ColdCell } from './plan.ts';

const LIMIT_MS = 900_000;

/** A bundle whose runs price any number of lines themselves, so that one run gets long. Returns its file. */
export async function bundleOfLongRuns(dir: string): Promise<string> {
  const copy = await copySources();
  try {
    const { code } = await copy.bundleWith({
      name: 'long runs',
      edits: [
        {
          file: 'workflows/price.ts',
          from: 'const LINES_PER_RUN = 250;',
          to: 'const LINES_PER_RUN = 1_000_000;',
        },
      ],
    });
    const file = join(dir, 'long-runs.js');
    await writeFile(file, code);
    return file;
  } finally {
    await copy.remove();
  }
}

/** Starts an order of so many lines and returns its workflow id when it waits for an approval. */
export async function openRun(world: World, name: string, lines: number): Promise<string> {
  const order = world.order(name, {
    lines: Array.from({ length: lines }, (_, n) => ({
      lineId: String(n + 1),
      sku: `${name}-${n + 1}`,
      name: `Article ${n + 1}`,
      quantity: '10000',
      unit: 'NAR',
      unitPrice: '4.00',
    })),
  });
  await world.pipeline.submit(order, world.policy);
  const id = orderIdOf(order);
  await untilPosition(world, id, ({ status }) => status === 'waiting', LIMIT_MS);
  return runIdOf(id);
}

/** What it takes a worker process that has just started to answer for a run it has never seen. */
export async function measureColdStart(
  client: Client,
  { run, workflowId }: { run: ColdCell['run']; workflowId: string },
  startWorker: () => Promise<WorkerHandle>,
): Promise<ColdCell> {
  const { historyLength } = await client.workflow.getHandle(workflowId).describe();
  const worker = await startWorker();
  try {
    // Nothing may wait for the worker that had it before.
    await client.workflowService.resetStickyTaskQueue({
      namespace: client.options.namespace,
      execution: { workflowId },
    });
    const asked = async () => {
      const began = performance.now();
      await answer(client, workflowId);
      return performance.now() - began;
    };
    const coldMs = await asked();
    const warmMs = await asked();
    return { run, events: historyLength, coldMs, warmMs };
  } finally {
    await worker.kill();
  }
}
