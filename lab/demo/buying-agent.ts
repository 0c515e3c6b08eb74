import { orderIdOfRequest } from '../../core/agent/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { agentCounts, agentInWords, paidPerTurn } from '../observe/agents.ts';
import { countsOnce } from '../observe/until.ts';
import { seconds } from '../observe/words.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { ask } from '../world/ask.ts';
import type { World } from '../world/world.ts';

const REQUEST = '3 office chairs under 200 euro each';
/** The turn whose answer is lost. Two are written down by then. */
const LOST_TURN = 3;
/** What this request takes: search, quotes, budget, order. */
const TURNS = 4;

export const buyingAgent: Scenario = {
  name: 'buying-agent',
  claim:
    "a model's answer that was written down is never paid again, one that was lost is in the budget, and there is one order",
  about: 'an agent is a run as well: of many turns, each of which costs money',
  fault: `SIGKILL while the model, who takes no keys, holds the call of turn ${LOST_TURN}, answered and paid`,
  counts: 'calls that the model was paid for, calls that the run has in its budget, orders',
  code: {
    chain: ['queue/chain/agent/turn.ts'],
    queue: ['queue/agent/steps/think.ts', 'queue/ledger/effect.ts'],
    temporal: ['workflows/agent/think.ts', 'activities/think.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'paid twice, in no budget' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 120_000 },
  async run(stage) {
    const world = await stage.world();
    const { id, recoveryMs } = await loseAnAnswer(stage, world);
    return judge(world, id, recoveryMs);
  },
};

async function loseAnAnswer(
  { say }: Stage,
  world: World,
): Promise<{ id: OrderId; recoveryMs: number }> {
  const { partners } = world;
  const faultId = await partners.setFault({
    partner: 'model',
    operation: 'complete',
    skip: LOST_TURN - 1,
    times: 1,
    effect: { kind: 'hang-after' },
  });
  // Nothing extends what a chain has received: longer than a turn takes on a slow machine.
  const env = { Q2T_AGENT_VISIBILITY_MS: '6000' };
  const worker = await world.startWorker(env);
  const id = await ask(world, 'REQ-2026-0012', REQUEST);
  await say(`asked for "${REQUEST}"`);
  await partners.waitUntilHeld({ faultId }, 60_000);
  const killedAt = performance.now();
  await worker.kill();
  await say(`worker ${worker.pid} killed; the model has answered turn ${LOST_TURN} and is paid`);
  await say(`where is ${id.orderRef}? ${await agentInWords(world, id)}`);
  await world.startWorker(env);
  await countsOnce(world, orderIdOfRequest(id), ({ mail }) => mail > 0);
  return { id, recoveryMs: performance.now() - killedAt };
}

async function judge(world: World, id: OrderId, recoveryMs: number): Promise<Outcome> {
  const { completion, order } = await agentCounts(world, id);
  const paid = await paidPerTurn(world, id);
  const again = paid.some((times, index) => times > 1 && index !== LOST_TURN - 1);
  const budgeted = await callsInBudget(world, id);
  const ways = [
    ...(again ? ['paid a recorded answer again'] : []),
    ...(completion <= TURNS || completion === budgeted ? [] : ['paid twice, in no budget']),
    ...(order === 1 ? [] : [`${order} orders`]),
  ];
  const counted = {
    'answers paid': completion,
    'in its budget': budgeted ?? 'nobody knows',
    orders: order,
  };
  const measured = { recovery: seconds(recoveryMs) };
  if (ways.length === 0) return { verdict: 'held', counted, measured };
  return { verdict: 'broke', how: ways.join(', '), counted, measured };
}

/** Undefined where nobody can say. */
async function callsInBudget(world: World, id: OrderId): Promise<number | undefined> {
  const { pipeline } = await world.agents();
  const answer = await pipeline.where(id);
  if (answer.kind !== 'position') return undefined;
  const { calls, lostCalls } = answer.position.spent;
  return calls + lostCalls;
}
