import { openTemporalAgent } from '../../client/pipelines/temporal/agent.ts';
import type { AgentPipeline } from '../../core/agent/contract.ts';
import { orderIdOfRequest, requestIdOf } from '../../core/agent/identity.ts';
import { toAgentAsk } from '../../core/agent/input.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { defaultAgentPolicy } from '../../core/agent/policy.ts';
import { formatNanoEur, priceOf } from '../../core/agent/prices.ts';
import { parseRequest } from '../../core/agent/request.ts';
import type { OrderId } from '../../core/identity.ts';
import { businessKey } from '../../core/identity.ts';
import { openChainAgent } from '../../queue/chain/agent/open.ts';
import { openQueueAgent } from '../../queue/agent/open.ts';
import { countsOnce, until } from '../observe/until.ts';
import { seconds } from '../observe/words.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';

const MODEL = 'scripted-1';
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
    const agents = await agentsOf(world);
    stage.cleanUp(() => agents.close());
    const { id, recoveryMs } = await loseAnAnswer(stage, world, agents);
    return judge(world, agents, { id, recoveryMs });
  },
};

async function loseAnAnswer(
  { say }: Stage,
  world: World,
  agents: AgentPipeline,
): Promise<{ id: OrderId; recoveryMs: number }> {
  const asked = askOf(world);
  const id = requestIdOf(asked.request);
  const faultId = await world.partners.setFault({
    partner: 'model',
    operation: 'complete',
    reference: businessKey(id),
    skip: LOST_TURN - 1,
    times: 1,
    effect: { kind: 'hang-after' },
  });
  // Nothing extends what a chain has received.
  const env = { Q2T_AGENT_VISIBILITY_MS: String(world.policy.heartbeatMs) };
  const worker = await world.startWorker(env);
  await agents.ask(asked);
  await say(`asked for "${asked.request.text}"`);
  await world.partners.waitUntilHeld({ faultId }, 60_000);
  const killedAt = performance.now();
  await worker.kill();
  await say(`worker ${worker.pid} killed; the model has answered turn ${LOST_TURN} and is paid`);
  await say(`where is ${id.orderRef}? ${await whereInWords(agents, id)}`);
  await world.startWorker(env);
  await until(`${world.implementation}: the mail of the order`, async () => {
    const { mail } = await world.partners.counts(businessKey(orderIdOfRequest(id)));
    return mail > 0 ? true : undefined;
  });
  return { id, recoveryMs: performance.now() - killedAt };
}

function askOf({ name, policy }: World): AgentAsk {
  const parsed = parseRequest({
    requestRef: 'REQ-2026-0012',
    buyer: { id: name, name: 'Lab', email: 'lab@example.org' },
    text: '3 office chairs under 200 euro each',
    currency: 'EUR',
  });
  const price = priceOf(MODEL);
  if (!parsed.ok || !price) throw new Error("the demo's own request can't be asked");
  const limits = { ...defaultAgentPolicy, modelTimeoutMs: 30_000 };
  return toAgentAsk({ request: parsed.request, limits, policy, model: MODEL, price });
}

function agentsOf(world: World): Promise<AgentPipeline> {
  const { databaseUrl, name: taskQueue } = world;
  switch (world.implementation) {
    case 'temporal':
      return openTemporalAgent({ ...world.temporal, taskQueue });
    case 'queue':
      return openQueueAgent({ databaseUrl, user: 'lab' });
    case 'chain':
      return openChainAgent({ databaseUrl });
    default:
      return world.implementation satisfies never;
  }
}

async function whereInWords(agents: AgentPipeline, id: OrderId): Promise<string> {
  const answer = await agents.where(id);
  if (answer.kind === 'cannot') return `cannot say: ${answer.reason}`;
  if (answer.kind === 'not-found') return 'not found';
  const { step, status, turn, spent } = answer.position;
  return `${turn} answers so far, at step ${step}, ${status}, ${formatNanoEur(spent.nanoEur)} spent`;
}

async function judge(
  world: World,
  agents: AgentPipeline,
  { id, recoveryMs }: { id: OrderId; recoveryMs: number },
): Promise<Outcome> {
  const { order } = await countsOnce(world, orderIdOfRequest(id), ({ mail }) => mail > 0);
  const keys = (await world.partners.effects({ partner: 'model', reference: businessKey(id) })).map(
    ({ key }) => key,
  );
  const recorded = keys.filter((key) => !key?.endsWith(`/t${LOST_TURN}/model`));
  const budgeted = await callsInBudget(agents, id);
  const ways = [
    ...(recorded.length === new Set(recorded).size ? [] : ['paid a recorded answer again']),
    ...(keys.length <= TURNS || keys.length === budgeted ? [] : ['paid twice, in no budget']),
    ...(order === 1 ? [] : [`${order} orders`]),
  ];
  const counted = {
    'answers paid': keys.length,
    'in its budget': budgeted ?? 'nobody knows',
    orders: order,
  };
  const measured = { recovery: seconds(recoveryMs) };
  if (ways.length === 0) return { verdict: 'held', counted, measured };
  return { verdict: 'broke', how: ways.join(', '), counted, measured };
}

/** Undefined where nobody can say. */
async function callsInBudget(agents: AgentPipeline, id: OrderId): Promise<number | undefined> {
  const answer = await agents.where(id);
  if (answer.kind !== 'position') return undefined;
  const { calls, lostCalls } = answer.position.spent;
  return calls + lostCalls;
}
