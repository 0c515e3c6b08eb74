import type { OrderId } from '../../core/identity.ts';
import { formatNanoEur } from '../../core/agent/prices.ts';
import { countedAtClaim, lostCallsCounted } from '../guards/agent.ts';
import { agentCounts, hasEnded, untilAgent } from '../observe/agents.ts';
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
    chain: { verdict: 'broke', how: 'paid 5 times for one answer' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: die,
  controls: [],
  limitMs: { small: 240_000 },
  seconds: 40,
};

async function die(stage: Stage): Promise<Outcome> {
  const world = await stage.world({ policy: { heartbeatMs: 1_000, maxAttempts: 2 } });
  if (stage.implementation === 'chain') return dieOnChain(stage, world);
  const thinking = await ask(world, 'REQ-1', CHAIRS_WANTED, { maxNanoEur: MONEY });
  const deaths = await killWhile(stage, world, thinking, 'complete');
  const model = await judge(world, thinking, { maxNanoEur: MONEY });
  await stage.say(`killed in ${deaths} calls of the model: ${model.ended}`);
  if (model.wrong) return { verdict: 'broke', how: model.wrong, counted: {} };

  const searching = await ask(world, 'REQ-2', CHAIRS_WANTED, { maxTurns: 3 });
  const more = await killWhile(stage, world, searching, 'search');
  const tool = await judge(world, searching, {});
  await stage.say(`killed in ${more} searches: ${tool.ended}`);
  if (tool.wrong) return { verdict: 'broke', how: tool.wrong, counted: {} };
  return {
    verdict: 'held',
    counted: { 'killed while the model answers': deaths, ended: model.ended, 'killed in a tool': more },
    measured: { 'charged for lost answers': formatNanoEur(model.nanoEur) },
  };
}

/** Kills the worker each time it is there, starts another, and returns how often, once the run has ended. */
async function killWhile(
  { signal }: Stage,
  world: World,
  id: OrderId,
  operation: 'complete' | 'search',
): Promise<number> {
  const { partners } = world;
  await partners.setFault({ operation, effect: { kind: 'hang-after' } });
  let deaths = 0;
  for (;;) {
    signal.throwIfAborted();
    const worker = await world.startWorker();
    const { pipeline } = await world.agents();
    const died = await until(`the worker in ${operation}, or the end`, async () => {
      if ((await partners.held({ operation })).length > 0) return true;
      const answer = await pipeline.where(id);
      return answer.kind === 'position' && hasEnded(answer.position) ? false : undefined;
    });
    if (!died) break;
    deaths += 1;
    if (deaths > TOO_MANY) throw new Error(`${deaths} workers dead, and no end`);
    await worker.kill();
    await partners.release();
  }
  await partners.clearFault();
  return deaths;
}

async function judge(world: World, id: OrderId, { maxNanoEur }: { maxNanoEur?: number }) {
  const { outcome, spent } = await untilAgent(world, id, hasEnded);
  const { completion } = await agentCounts(world, id);
  const wrong =
    completion > spent.calls + spent.lostCalls
      ? `paid for ${completion} answers and charged ${spent.calls + spent.lostCalls}`
      : maxNanoEur !== undefined && spent.nanoEur > maxNanoEur
        ? `spent ${formatNanoEur(spent.nanoEur)} of ${formatNanoEur(maxNanoEur)}`
        : undefined;
  return { wrong, ended: String(outcome), nanoEur: spent.nanoEur };
}

/** The message comes back as often as the transport lets it, and each time the model is asked anew. */
async function dieOnChain(stage: Stage, world: World): Promise<Outcome> {
  const id = await ask(world, 'REQ-1', CHAIRS_WANTED);
  const transport = await openMessages(stage, world);
  const { partners } = world;
  await partners.setFault({ operation: 'search', effect: { kind: 'hang-after' } });
  for (;;) {
    stage.signal.throwIfAborted();
    const worker = await world.startWorker({ Q2T_VISIBILITY_MS: '1000' });
    const died = await until('the worker in a search, or the dead letter', async () => {
      if ((await partners.held({ operation: 'search' })).length > 0) return true;
      return (await countMessages(transport, world)).dead > 0 ? false : undefined;
    });
    if (!died) break;
    await worker.kill();
    await partners.release();
  }
  const { completion } = await agentCounts(world, id);
  return { verdict: 'broke', how: `paid ${completion} times for one answer`, counted: {} };
}
