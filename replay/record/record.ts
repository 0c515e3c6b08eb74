import type { Client } from '@temporalio/client';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import { orderIdOf, runIdOf } from '../../core/identity.ts';
import { untilThrough } from '../../lab/observe/until.ts';
import type { World } from '../../lab/world/world.ts';
import type { Stage } from '../stages.ts';
import { filesOfPath, runAgent, type AgentPath } from './agent-paths.ts';
import type { RunPath } from './paths.ts';
import { inSession, type Session } from './session.ts';

export interface Recording {
  orders: readonly RunPath[];
  agents: readonly AgentPath[];
  stage: Stage;
  /** The folder of all stages. */
  dir: string;
  announce: (line: string) => void;
}

/** So many events of a history, some two turns of the agent. */
const EARLY = 40;

/**
 * Runs an order, or the agent, along every path on a server, a database, partners and a worker of its own,
 * and writes the history of each. Returns the files. Throws when a run does not go the way its path says.
 */
export async function record(recording: Recording): Promise<string[]> {
  const { orders, agents, stage, dir, announce } = recording;
  const isChain = ({ executions }: AgentPath) => executions !== undefined;
  const [chains, others] = [agents.filter(isChain), agents.filter((path) => !isChain(path))];
  const files: string[] = [];
  if (orders.length + others.length > 0) {
    announce('starting Postgres, Temporal and the partners');
    const each = await inSession({ stage, dir }, async (session) => [
      ...(await recordOrders(orders, session, announce)),
      ...(await recordAgents(others, session, announce)),
    ]);
    files.push(...each);
  }
  if (chains.length > 0) {
    announce('starting a server that suggests new executions early');
    const each = await inSession({ stage, dir, suggestsAt: EARLY }, async (session) => {
      await session.world.startWorker({ Q2T_BUNDLE: session.bundle });
      return recordAgents(chains, session, announce);
    });
    files.push(...each);
  }
  return files;
}

type Announce = Recording['announce'];

/** Starts the worker too: some orders come before it. */
async function recordOrders(
  paths: readonly RunPath[],
  { world, client, bundle, write }: Session,
  announce: Announce,
): Promise<string[]> {
  const files: string[] = [];
  const withoutWorkers = paths.filter(({ beforeWorkers }) => beforeWorkers !== undefined);
  for (const path of withoutWorkers) await begin(world, path);
  await world.startWorker({ Q2T_BUNDLE: bundle });
  for (const path of paths) {
    announce(path.name);
    const id = orderIdOf(path.order());
    if (!path.beforeWorkers) await begin(world, path);
    await path.happens?.(world, id, client);
    await untilThrough(world, id);
    files.push(await write(runIdOf(id), path.name));
    for (const child of path.children ?? []) {
      files.push(
        await write(`${runIdOf(id)}${child}`, `${path.name}${child.replaceAll('/', '-')}`),
      );
    }
  }
  return files;
}

async function begin(world: World, path: RunPath): Promise<void> {
  const order = path.order();
  const id = orderIdOf(order);
  for (const fault of path.faults?.(order) ?? []) await world.partners.setFault(fault);
  const { kind } = await world.pipeline.submit(order, world.policy);
  if (kind !== 'started') throw new Error(`${path.name}: submit answered ${kind}`);
  await path.beforeWorkers?.(world, id);
}

async function recordAgents(
  paths: readonly AgentPath[],
  { world, client, write }: Session,
  announce: Announce,
): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    announce(path.name);
    const workflowId = agentRunIdOf(await runAgent(world, path));
    const executions = await executionsOf(client, workflowId);
    const names = filesOfPath(path);
    if (executions.length !== names.length) {
      throw new Error(`${path.name} took ${executions.length} executions, not ${names.length}`);
    }
    for (const [n, name] of names.entries()) {
      files.push(await write(workflowId, name, executions[n]));
    }
  }
  return files;
}

/** The run ids of a chain, the first one first. */
async function executionsOf(client: Client, workflowId: string): Promise<string[]> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const runIds = [raw.workflowExecutionInfo?.firstRunId ?? ''];
  for (;;) {
    const handle = client.workflow.getHandle(workflowId, runIds.at(-1));
    const { events } = await handle.fetchHistory();
    const last = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
    if (!last?.newExecutionRunId) return runIds;
    runIds.push(last.newExecutionRunId);
  }
}
