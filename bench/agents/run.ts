import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import type { AgentPosition } from '../../core/agent/contract.ts';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import type { Implementation } from '../../core/contract.ts';
import type { OrderId } from '../../core/identity.ts';
import { hasEnded, untilAgent } from '../../lab/observe/agents.ts';
import { bytesIn } from '../../lab/observe/bytes.ts';
import { CHAIRS_WANTED } from '../../lab/world/agents.ts';
import { ask } from '../../lab/world/ask.ts';
import { Ground } from '../../lab/world/ground.ts';
import { openWorld } from '../../lab/world/open.ts';
import type { World } from '../../lab/world/world.ts';
import { perOne, reading, type Reading } from '../counters.ts';
import { describeMachine, type Machine } from '../machine.ts';

export interface AgentsPlan {
  /** Short requests in each cell. */
  requests: number;
  /** Turns of the one long run. */
  turns: number;
  /** How often each implementation has its turn. */
  rounds: number;
}

export const SHAPES = ['short', 'long'] as const;
export type Shape = (typeof SHAPES)[number];
/** The chain can't say when a run has ended, nor carry a long one. */
export const SIDES = ['queue', 'temporal'] as const satisfies readonly Implementation[];

/** One implementation's turn with one kind of run, each figure for one run; its order is in it. */
export interface AgentsCell extends Reading {
  implementation: (typeof SIDES)[number];
  shape: Shape;
  /** From the first request to the last end. */
  seconds: number;
  calls: number;
  tokens: number;
  microEur: number;
  storeBytes: number;
  /** Of the agent's runs alone; a run that was continued has several. Zero on the queue. */
  events: number;
  historyBytes: number;
  executions: number;
}

export interface AgentsResult {
  machine: Machine;
  plan: AgentsPlan;
  cells: AgentsCell[];
}

const LIMIT_MS = 900_000;
const NO_LIMITS = { maxTurns: 100_000, maxTokens: 1e12, maxNanoEur: 1e15 };

/** Runs of the agent through one worker process, the implementations taking turns. Linux only: reads /proc. */
export async function runAgentsBench(
  plan: AgentsPlan,
  announce: (text: string) => void,
): Promise<AgentsResult> {
  const ground = new Ground();
  try {
    announce('starting Postgres and Temporal');
    await ground.lay();
    const machine = await describeMachine(ground.stack.postgres.urlOf('postgres'));
    const cells: AgentsCell[] = [];
    for (let round = 1; round <= plan.rounds; round += 1) {
      for (const shape of SHAPES) {
        for (const implementation of SIDES) {
          announce(`round ${round} of ${plan.rounds}: ${shape} runs on ${implementation}`);
          const world = await openWorld(ground, implementation);
          cells.push({ implementation, shape, ...(await measure(world, shape, plan)) });
        }
      }
    }
    return { machine, plan, cells };
  } finally {
    await ground.stop();
  }
}

async function measure(
  world: World,
  shape: Shape,
  plan: AgentsPlan,
): Promise<Omit<AgentsCell, 'implementation' | 'shape'>> {
  const observer = new pg.Client({ connectionString: world.databaseUrl });
  await observer.connect();
  try {
    const worker = await world.startWorker();
    await untilAgent(world, await ask(world, 'WARM-UP', CHAIRS_WANTED), hasEnded);
    const storedBefore = await bytesIn(world.storeDir);
    const before = await reading(observer, worker.pid);
    const began = performance.now();
    const count = shape === 'short' ? plan.requests : 1;
    const runs = await runAll(world, count, (n) => textOf(shape, plan, n));
    const seconds = (performance.now() - began) / 1_000;
    const used = perOne(before, await reading(observer, worker.pid), count);
    const sum = (of: (position: AgentPosition) => number) =>
      runs.reduce((all, { position }) => all + of(position), 0) / count;
    const histories = await historiesOf(
      world,
      runs.map(({ id }) => id),
    );
    return {
      ...used,
      seconds,
      calls: sum(({ spent }) => spent.calls),
      tokens: sum(({ spent }) => spent.inputTokens + spent.outputTokens),
      microEur: sum(({ spent }) => spent.nanoEur / 1_000),
      storeBytes: ((await bytesIn(world.storeDir)) - storedBefore) / count,
      events: histories.events / count,
      historyBytes: histories.historyBytes / count,
      executions: histories.executions / count,
    };
  } finally {
    await observer.end();
    await world.close();
  }
}

/** Each of the short ones differs: what two runs have in common is in the store once. */
function textOf(shape: Shape, { turns }: AgentsPlan, n: number): string {
  if (shape === 'short') return `${n + 3} office chairs under 200 euro each`;
  return `40 office chairs with data sheet under 200 euro each [model: ponder ${turns}]`;
}

/** All at once: the worker takes as many as it does by itself. */
async function runAll(world: World, count: number, textOfNth: (n: number) => string) {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const id = await ask(world, `REQ-${n}`, textOfNth(n), NO_LIMITS);
      const position = await untilAgent(world, id, hasEnded, LIMIT_MS);
      if (position.outcome !== 'completed') throw new Error(`${id.orderRef}: ${position.reason}`);
      return { id, position };
    }),
  );
}

/** What the server keeps of these runs, over all executions of each. */
async function historiesOf(world: World, ids: readonly OrderId[]) {
  const found = { events: 0, historyBytes: 0, executions: 0 };
  if (world.implementation !== 'temporal') return found;
  const { address, namespace } = world.temporal;
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    for (const id of ids) {
      for await (const { runId } of client.workflow.list({
        query: `WorkflowId = '${agentRunIdOf(id)}'`,
      })) {
        const described = await client.workflow.getHandle(agentRunIdOf(id), runId).describe();
        found.events += described.historyLength;
        found.historyBytes += described.historySize ?? 0;
        found.executions += 1;
      }
    }
  } finally {
    await connection.close();
  }
  return found;
}
