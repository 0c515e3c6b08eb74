import { chargeForLostCalls } from '../guards/agent.ts';
import { agentCounts, hasEnded, lostPerTurn, paidPerTurn, untilAgent } from '../observe/agents.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { together } from '../observe/together.ts';
import { countsOnce } from '../observe/until.ts';
import { seconds } from '../observe/words.ts';
import { orderIdOfRequest } from '../../core/agent/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { CHAIRS_WANTED } from '../world/agents.ts';
import { ask } from '../world/ask.ts';
import type { World } from '../world/world.ts';
import { crashWorld, openCrashes, type Victims } from './crash-matrix/crashes.ts';
import { drawnPlaces } from './crash-matrix/places.ts';

/** Of the places around a run's boundaries, so many are tried in the small size. */
const SHARE = 1 / 8;

const victims: Victims = {
  async start(world, n, arm) {
    const { watch } = await world.agents();
    const requestRef = `REQ-${n}`;
    arm(watch({ buyerId: world.name, orderRef: requestRef }));
    // One tool after the other: the same writes in the same order in every run.
    return ask(world, requestRef, CHAIRS_WANTED, { maxCallsPerTurn: 1 });
  },
  async through(world, id) {
    if (world.implementation !== 'chain') await untilAgent(world, id, hasEnded);
    await countsOnce(world, orderIdOfRequest(id), ({ mail }) => mail > 0);
  },
  counts: agentCounts,
};

export const agentCrashMatrix: Scenario = {
  name: 'agent-crash-matrix',
  claim:
    'wherever a worker dies, no answer of the model is paid for again once it is written down, what was ' +
    'lost is charged, and one order comes of it',
  about: 'each step of an agent costs money: a position that is lost is paid for twice',
  fault:
    'as crash-matrix, with a run of the agent: its worker is killed before or after each write. Small: an ' +
    'eighth of these places, drawn by the seed; --full: all',
  counts:
    'answers paid for by turn, against what the run has written down as lost; effects of its order; ' +
    'messages, timers, gates and runs that are still there',
  code: {
    chain: ['queue/chain/agent/handle.ts', 'queue/chain/agent/turn.ts'],
    queue: ['queue/agent/steps/think.ts', 'queue/ledger/effect.ts'],
    temporal: ['workflows/agent/think.ts', 'activities/think.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'paid twice for a turn and charged once' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: crash,
  controls: [
    {
      on: 'queue',
      without: chargeForLostCalls,
      breaks: 'paid twice for a turn and charged once',
      run: dieOnce,
    },
  ],
  limitMs: { small: 400_000, full: 1_800_000 },
  seconds: 60,
};

async function crash(stage: Stage): Promise<Outcome> {
  if (stage.implementation === 'chain') return dieOnce(stage);
  const world = await stage.world(crashWorld(stage));
  const crashes = await openCrashes(stage, world, victims);
  const boundaries = await crashes.undisturbed();
  const { places, chosen } = drawnPlaces(boundaries, stage, SHARE);
  const outcomes: Outcome[] = [];
  const took: number[] = [];
  let again = 0;
  for (const place of chosen) {
    const { id, counts, recoveryMs } = await crashes.crash(place);
    const { outcome, repaid } = await judge(world, id, counts);
    await stage.say(`killed ${place.side} ${place.label}: ${outcome.verdict}`);
    outcomes.push(outcome);
    took.push(recoveryMs);
    again += repaid;
  }
  const durable = stage.implementation === 'temporal' ? 'calls' : 'commits';
  return together(
    outcomes,
    { effects: 'each once', 'paid and not charged': 0, 'left behind': 'nothing' },
    {
      tried: `${chosen.length} of ${places.length} places around ${boundaries.length} ${durable}`,
      'lost and paid again': again,
      'longest recovery': seconds(Math.max(...took)),
    },
  );
}

/** The worker dies when the model has answered and the answer is not yet there: the one place that costs. */
async function dieOnce(stage: Stage): Promise<Outcome> {
  const world = await stage.world({ workerEnv: { Q2T_AGENT_VISIBILITY_MS: '6000' } });
  const { partners } = world;
  await partners.setFault({ operation: 'complete', times: 1, effect: { kind: 'hang-after' } });
  const worker = await world.startWorker();
  const id = await ask(world, 'REQ-1', CHAIRS_WANTED);
  await partners.waitUntilHeld({ operation: 'complete' }, 60_000);
  await worker.kill();
  await partners.release();
  await world.startWorker();
  await victims.through(world, id);
  const { outcome } = await judge(world, id, await agentCounts(world, id));
  return outcome;
}

/** Every turn is paid for once, but for the calls that the run itself says are lost; the order as any other. */
async function judge(
  world: World,
  id: OrderId,
  counts: Awaited<ReturnType<typeof agentCounts>>,
): Promise<{ outcome: Outcome; repaid: number }> {
  const paid = await paidPerTurn(world, id);
  const { pipeline } = await world.agents();
  const answer = await pipeline.where(id);
  const lost = lostPerTurn(answer.kind === 'position' ? answer.position.history : []);
  const charged =
    answer.kind === 'position' ? answer.position.spent.calls + answer.position.spent.lostCalls : 0;
  const effects = judgeEffects({ ...counts, completion: 0 }, ONCE);
  const unknown = paid.findIndex((times, index) => times > 1 + (lost.get(index + 1) ?? 0));
  const wrong: Outcome[] = [];
  if (unknown >= 0 || (answer.kind === 'position' && counts.completion > charged)) {
    wrong.push({ verdict: 'broke', how: 'paid twice for a turn and charged once', counted: {} });
  }
  const repaid = paid.filter((times) => times > 1).length;
  return { outcome: together([effects, ...wrong], { effects: 'each once' }), repaid };
}
