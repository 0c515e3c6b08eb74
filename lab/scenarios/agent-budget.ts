import type { AgentPosition } from '../../core/agent/contract.ts';
import type { OrderId } from '../../core/identity.ts';
import { formatNanoEur } from '../../core/agent/prices.ts';
import { chargeForLostCalls } from '../guards/agent.ts';
import { agentCounts, untilAgent, wronglyPaid } from '../observe/agents.ts';
import { countMessages, openMessages } from '../observe/messages.ts';
import { until } from '../observe/until.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { ask } from '../world/ask.ts';
import { CHAIRS_WANTED } from '../world/agents.ts';
import type { World } from '../world/world.ts';

/** Two calls at the most that the first prompt can cost, and a little more. */
const MONEY = 5_000_000;
/** More deaths than this, and nothing bounds them. */
const TOO_MANY = 12;

export const agentBudget: Scenario = {
  name: 'agent-budget',
  claim: 'an agent whose worker dies in every call ends within its budget, and its ledger says so',
  about:
    'a worker that dies reports nothing: where only reported failures count, a batch was paid for 54 times',
  fault:
    'the worker is killed each time the model has answered and the answer is not yet there; of a second ' +
    'agent, each time a supplier works on a search',
  counts: 'answers of the model that were paid for against what the run has charged itself',
  code: {
    chain: ['queue/chain/agent/turn.ts'],
    queue: ['queue/agent/steps/think.ts', 'queue/ledger/effect.ts', 'core/agent/spend.ts'],
    temporal: ['workflows/agent/think.ts', 'core/agent/spend.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'paid with every receive for one answer' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: die,
  controls: [
    {
      on: 'queue',
      without: chargeForLostCalls,
      breaks: 'paid for more answers than it has charged',
      run: dieThinking,
    },
  ],
  limitMs: { small: 240_000 },
  seconds: 40,
};

async function die(stage: Stage): Promise<Outcome> {
  const world = await stage.world({ policy: { heartbeatMs: 1_000, maxAttempts: 2 } });
  if (stage.implementation === 'chain') return dieOnChain(stage, world);
  const thinking = await dieThinking(stage, world);
  if (thinking.verdict !== 'held') return thinking;
  const [searching, deaths] = await killWhile(stage, world, 'search', () =>
    ask(world, 'REQ-2', CHAIRS_WANTED, { maxTurns: 3 }),
  );
  const { wrong, ended } = await judge(world, searching);
  await stage.say(`killed in ${deaths} searches: ${ended}`);
  if (wrong) return { verdict: 'broke', how: wrong, counted: {} };
  return {
    verdict: 'held',
    counted: { ...thinking.counted, 'killed in a tool, then': ended },
    measured: { ...thinking.measured, 'killed in a tool': deaths },
  };
}

/** Every death may have been paid for, so every one is charged, and the money ends. */
async function dieThinking(stage: Stage, given?: World): Promise<Outcome> {
  const world = given ?? (await stage.world({ policy: { heartbeatMs: 1_000, maxAttempts: 2 } }));
  const [id, deaths] = await killWhile(stage, world, 'complete', () =>
    ask(world, 'REQ-1', CHAIRS_WANTED, { maxNanoEur: MONEY }),
  );
  if (deaths > TOO_MANY) {
    return { verdict: 'broke', how: `no end within ${TOO_MANY} deaths`, counted: {} };
  }
  const { wrong, ended, nanoEur } = await judge(world, id, MONEY);
  await stage.say(`killed in ${deaths} calls of the model: ${ended}`);
  if (wrong) return { verdict: 'broke', how: wrong, counted: {} };
  return {
    verdict: 'held',
    counted: { ended },
    measured: {
      'killed while the model answers': deaths,
      'charged for lost answers': formatNanoEur(nanoEur),
    },
  };
}

/**
 * Kills the worker each time it is there and starts another. Returns the run and how often, once the run
 * has ended, or that is too often.
 */
async function killWhile(
  { signal }: Stage,
  world: World,
  operation: 'complete' | 'search',
  begin: () => Promise<OrderId>,
): Promise<[OrderId, deaths: number]> {
  const { partners } = world;
  const { pipeline } = await world.agents();
  await partners.setFault({ operation, effect: { kind: 'hang-after' } });
  const id = await begin();
  for (let deaths = 0; ;) {
    signal.throwIfAborted();
    const worker = await world.startWorker();
    const died = await until(`the worker in ${operation}, or the end`, async () => {
      if ((await partners.held({ operation })).length > 0) return true;
      const answer = await pipeline.where(id);
      return answer.kind === 'position' && isOver(answer.position) ? false : undefined;
    });
    await worker.kill();
    await partners.release();
    if (died) deaths += 1;
    if (died && deaths <= TOO_MANY) continue;
    await partners.clearFault();
    return [id, deaths];
  }
}

/** Ended, or in the hands of an operator: nothing is tried any more. */
function isOver({ status }: AgentPosition): boolean {
  return status === 'ended' || status === 'stuck';
}

async function judge(world: World, id: OrderId, budget = Infinity) {
  const { outcome, status, spent } = await untilAgent(world, id, isOver);
  const { completion } = await agentCounts(world, id);
  const wrong =
    wronglyPaid(completion, spent) ??
    (spent.nanoEur > budget ? 'spent more than its budget' : undefined);
  return { wrong, ended: outcome ?? status, nanoEur: spent.nanoEur };
}

/** The message comes back as often as the transport lets it, and each time the model is asked anew. */
async function dieOnChain(stage: Stage, world: World): Promise<Outcome> {
  const id = await ask(world, 'REQ-1', CHAIRS_WANTED);
  const transport = await openMessages(stage, world);
  const { partners } = world;
  await partners.setFault({ operation: 'search', effect: { kind: 'hang-after' } });
  for (;;) {
    stage.signal.throwIfAborted();
    const worker = await world.startWorker({ Q2T_AGENT_VISIBILITY_MS: '1500' });
    const died = await until('the worker in a search, or the dead letter', async () => {
      if ((await partners.held({ operation: 'search' })).length > 0) return true;
      return (await countMessages(transport, world)).dead > 0 ? false : undefined;
    });
    if (!died) break;
    await worker.kill();
    await partners.release();
  }
  const { completion } = await agentCounts(world, id);
  const measured = { paid: completion };
  if (completion === 1) return { verdict: 'held', counted: {}, measured };
  const how = 'paid with every receive for one answer';
  return { verdict: 'broke', how, counted: {}, measured };
}
