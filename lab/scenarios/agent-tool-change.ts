import { requestIdOf } from '../../core/agent/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { withoutGuard } from '../guards/guard.ts';
import { versionOfTheRequest } from '../guards/agent.ts';
import { agentCounts, agentInWords, hasEnded, untilAgent } from '../observe/agents.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { openMessages, untilDrained } from '../observe/messages.ts';
import { broke, together } from '../observe/together.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { ask } from '../world/ask.ts';
import { makeCurrent } from '../world/versions.ts';
import type { WorkerHandle, World } from '../world/world.ts';

const GONE = 'the model’s tool is gone, nothing ordered';
const BEFORE = 'replay/stages/before/index.ts';
/** Some searches first: a model repeats the name that it sees in what it has said. */
const PONDERING = '40 office chairs under 200 euro each [model: ponder 8]';
const NEW = '40 office chairs under 200 euro each';

export const agentToolChange: Scenario = {
  name: 'agent-tool-change',
  claim: 'a tool that is renamed under a run is called by its old name to that run’s end',
  about: 'what a run was told and given is a version, as its code is',
  fault:
    'version 2 renames the tool for searches; the worker is replaced while an agent of version 1 has ' +
    'searched once and the supplier works on its second search',
  counts:
    'what became of the run in flight and of one that was asked after the deploy, and their orders',
  code: {
    chain: ['queue/chain/agent/open.ts', 'core/agent/versions.ts'],
    queue: ['queue/agent/ask.ts', 'core/agent/versions.ts'],
    temporal: ['workflows/agent/buying-agent.ts', 'core/agent/versions.ts'],
  },
  expected: {
    // The version is in the body, as everything is.
    chain: { verdict: 'held' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: (stage) => replaceWorker(stage, {}),
  controls: (['chain', 'queue'] as const).map((on) => ({
    on,
    without: versionOfTheRequest,
    breaks: GONE,
    run: (stage: Stage) => replaceWorker(stage, withoutGuard(versionOfTheRequest)),
  })),
  seconds: 15,
};

/** `changes`: environment of the worker after the deploy. */
async function replaceWorker(stage: Stage, changes: NodeJS.ProcessEnv): Promise<Outcome> {
  const world = await stage.world();
  const { id, old, letGo } = await inFlight(world);
  await stage.say(
    'an agent has searched once, and a supplier works on its second search: the deploy',
  );
  await old.kill();
  await letGo();
  await world.startWorker({ Q2T_AGENT_VISIBILITY_MS: '6000', ...changes });
  if (world.implementation === 'queue') await makeCurrent(world, 'agent/2');
  const fresh = await ask(world, 'REQ-NEW', NEW);
  const outcomes = [await judge(stage, world, id, '1'), await judge(stage, world, fresh, '2')];
  return together(outcomes, { 'in flight': 'ordered', 'after the deploy': 'ordered' });
}

interface InFlight {
  id: OrderId;
  old: WorkerHandle;
  letGo: () => Promise<unknown>;
}

async function inFlight(world: World): Promise<InFlight> {
  const { partners } = world;
  // A search carries no reference; nobody else searches here.
  await partners.setFault({
    operation: 'search',
    skip: 1,
    times: 1,
    effect: { kind: 'hang-after' },
  });
  const old = await world.startWorker(await oldDeploy(world));
  if (world.implementation === 'queue') await makeCurrent(world, 'agent/1');
  const id = await askAsBefore(world);
  await partners.waitUntilHeld({ operation: 'search' }, 60_000);
  return { id, old, letGo: () => partners.clearFault() };
}

/** What the worker before the deploy ran, whatever guard this world lacks. */
async function oldDeploy(world: World): Promise<NodeJS.ProcessEnv> {
  const { implementation } = world;
  return {
    Q2T_LAB_PATCHES: '[]',
    Q2T_AGENT_VISIBILITY_MS: '6000',
    ...(implementation === 'temporal' && { Q2T_BUNDLE: await world.bundleOf(BEFORE) }),
    ...(implementation === 'queue' && { Q2T_VERSIONS: '1,2,agent/1' }),
  };
}

/** By a client that knows the first version only. */
async function askAsBefore(world: World): Promise<OrderId> {
  const { pipeline, request } = await world.agents();
  const asked = request('REQ-IN-FLIGHT', PONDERING);
  const { kind } = await pipeline.ask({
    ...asked,
    promptSizes: { 1: asked.promptSizes['1'] ?? 0 },
  });
  if (kind !== 'started') throw new Error(`the agent: ${kind}`);
  return requestIdOf(asked.request);
}

/** An order came of it, in that version, and no answer of the model named a tool that is not there. */
async function judge(stage: Stage, world: World, id: OrderId, version: string): Promise<Outcome> {
  if (world.implementation === 'chain') return judgeChain(stage, world, id);
  const position = await untilAgent(world, id, hasEnded);
  await stage.say(`version ${position.version}: ${await agentInWords(world, id)}`);
  if (position.outcome !== 'completed') return broke(GONE);
  if (position.version !== version) return broke(`version ${position.version}`);
  return orderOnce(world, id);
}

/** Nothing says that it has ended: no message is left. */
async function judgeChain(stage: Stage, world: World, id: OrderId): Promise<Outcome> {
  const transport = await openMessages(stage, world);
  await untilDrained(transport, world);
  return orderOnce(world, id);
}

async function orderOnce(world: World, id: OrderId): Promise<Outcome> {
  const counts = await agentCounts(world, id);
  if (counts.order === 0) return broke(GONE);
  return judgeEffects({ ...counts, completion: 0 }, ONCE);
}
