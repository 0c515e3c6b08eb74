import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Position } from '../../../core/contract.ts';
import { orderIdOf, runIdOf } from '../../../core/identity.ts';
import { toRunInput } from '../../../core/order/run-input.ts';
import type { Order } from '../../../core/order/schema.ts';
import { judgeWorkflow, type FreshVerdict } from '../../../replay/rules/judge.ts';
import type { FreshRun, ReplaysOf } from '../../../replay/rules/replays.ts';
import { labelOf, UNCHANGED } from '../../../replay/rules/rule.ts';
import { rules } from '../../../replay/rules/rules.ts';
import { NOBODY_DIES } from '../ambiguous-charge/unhurried.ts';
import type { Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';
import { openFolder, prepare, readJson, runScript } from './folder.ts';
import { loseAnswers, twoLines, wrongEffects } from './order.ts';
import { patchesOf, type Seen } from './seen.ts';

/**
 * Every edit of the workflow: linted, bundled as a workflow type of its own, replayed with what is
 * recorded, and run, one order each, on a server; what those leave behind is replayed as well.
 */
export async function tryWorkflows(stage: Stage): Promise<Seen> {
  const folder = await openFolder(stage);
  const [prepared, world] = await Promise.all([
    prepare(stage, 'workflows', folder),
    stage.world(NOBODY_DIES),
  ]);
  await stage.say(`${rules.length} edits of the workflow linted and bundled`);
  const bundled = Object.keys(prepared).filter((label) => !prepared[label]?.bundler);
  const verdicts = await runFresh(stage, world, folder, [UNCHANGED, ...bundled]);
  await runScript(stage, 'replay/rules/replays.ts', folder);
  const replayed = await readJson<Record<string, ReplaysOf>>(folder, 'replayed.json');
  return new Map(
    rules.map((rule) => {
      const label = labelOf(rule);
      const [fresh, replays] = [verdicts.get(label), replayed[label]];
      const facts = { prepared: prepared[label] ?? { lint: [] } };
      return [
        rule.name,
        judgeWorkflow({ ...facts, ...(fresh && { fresh }), ...(replays && { replays }) }),
      ];
    }),
  );
}

/** One new order for each of the types, all at once. Writes their histories where the replays look. */
async function runFresh(
  { cleanUp, say, signal }: Stage,
  world: World,
  folder: string,
  labels: readonly string[],
): Promise<Map<string, FreshVerdict>> {
  const { address, namespace } = world.temporal;
  const connection = await Connection.connect({ address });
  cleanUp(() => connection.close());
  const client = new Client({ connection, namespace });
  await world.startWorker({
    Q2T_BUNDLE: join(folder, 'bundle.js'),
    ...patchesOf(rules.flatMap(({ temporal }) => temporal.activities ?? [])),
  });
  const verdicts = new Map<string, FreshVerdict>();
  const runs: Record<string, FreshRun> = {};
  await Promise.all(
    labels.map(async (label) => {
      const order = twoLines(world, label);
      const handle = await start(client, world, label, order);
      const error = await endOrStall(handle, signal);
      const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as unknown;
      const { workflowId } = handle;
      runs[label] = { workflowId, orderRef: label, history, ended: error === undefined };
      const wrong = error === undefined ? await wrongResult(world, handle, order) : undefined;
      verdicts.set(label, {
        ...(error !== undefined && { error }),
        ...(wrong !== undefined && { wrong }),
      });
    }),
  );
  const control = verdicts.get(UNCHANGED);
  if (control?.error ?? control?.wrong) throw new Error(`unchanged: ${JSON.stringify(control)}`);
  await say(`${labels.length} orders, one for each edit, have ended or stalled`);
  await writeFile(join(folder, 'fresh.json'), JSON.stringify(runs));
  return verdicts;
}

async function start(client: Client, world: World, label: string, order: Order) {
  await loseAnswers(world, order, ['enquire', 'charge', 'place']);
  return client.workflow.start(label, {
    args: [toRunInput(order, world.policy, new Date())],
    workflowId: runIdOf(orderIdOf(order)),
    taskQueue: world.name,
    workflowTaskTimeout: world.policy.workflowTaskTimeoutMs,
  });
}

/** Undefined when the run has ended; what its workflow task fails with when it does not get there. */
async function endOrStall(
  handle: WorkflowHandle,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    const { status, raw } = await handle.describe();
    if (status.name === 'COMPLETED') return undefined;
    // A task that is tried again has failed, or its worker was slow: the history tells.
    if (status.name !== 'RUNNING' || (raw.pendingWorkflowTask?.attempt ?? 1) > 1) {
      const { events } = await handle.fetchHistory();
      const failed = events?.findLast((event) => event.workflowTaskFailedEventAttributes);
      const error = failed?.workflowTaskFailedEventAttributes?.failure?.message ?? '';
      if (status.name !== 'RUNNING') return error || status.name;
      if (error !== '') {
        await handle.terminate('it stalls');
        return error;
      }
    }
    // Two dozen of these at once: more often would be most of what the server does.
    await sleep(1_000, undefined, { signal });
  }
}

/** The server replays a run that has ended when it is asked: what it tells must be what it wrote down. */
async function wrongResult(
  world: World,
  handle: WorkflowHandle,
  order: Order,
): Promise<string | undefined> {
  const wrong = await wrongEffects(world, order);
  if (wrong !== undefined) return wrong;
  const answer = await world.pipeline.where(orderIdOf(order));
  if (answer.kind !== 'position') throw new Error(`where: ${answer.kind}`);
  const { history, outcome } = answer.position;
  if (outcome !== 'completed') return `ended as ${outcome}`;
  const replayed = await handle.query<Position>('position');
  return isDeepStrictEqual(replayed.history, history) ? undefined : 'says otherwise when replayed';
}
