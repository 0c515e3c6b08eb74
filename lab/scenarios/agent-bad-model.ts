import type { AgentPolicy } from '../../core/agent/policy.ts';
import type { OrderId } from '../../core/identity.ts';
import { businessKey } from '../../core/identity.ts';
import { agentCounts, agentInWords, hasEnded, untilAgent, wronglyPaid } from '../observe/agents.ts';
import { countMessages, openMessages, untilDrained } from '../observe/messages.ts';
import { broke, together } from '../observe/together.ts';
import { patienceWithTheModel } from '../guards/agent.ts';
import type { FaultSpec } from '../../partners/control.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { ask } from '../world/ask.ts';
import type { World } from '../world/world.ts';

/** What is wrong with the model, and how the run must end. */
interface Trouble {
  name: string;
  text: string;
  limits?: Partial<AgentPolicy>;
  fault?: FaultSpec;
  ends: 'completed' | 'exhausted';
  /** Answers until its end, where a limit on them is what counts. */
  turns?: number;
}

const CHAIRS = '40 office chairs under 200 euro each';

const TROUBLES: readonly Trouble[] = [
  { name: 'malformed', text: `${CHAIRS} [model: malformed 2]`, ends: 'completed' },
  { name: 'always malformed', text: `${CHAIRS} [model: malformed]`, ends: 'exhausted', turns: 4 },
  { name: 'unknown tool', text: `${CHAIRS} [model: unknown-tool 1]`, ends: 'completed' },
  {
    name: 'endless loop',
    text: `${CHAIRS} [model: endless]`,
    limits: { maxTurns: 6 },
    ends: 'exhausted',
    turns: 6,
  },
  {
    name: '429 storm',
    text: CHAIRS,
    fault: {
      partner: 'model',
      operation: 'complete',
      times: 6,
      effect: { kind: 'status', status: 429, retryAfter: 1 },
    },
    ends: 'completed',
  },
];

export const agentBadModel: Scenario = {
  name: 'agent-bad-model',
  claim: 'whatever the model says, a run ends, and it is paid no more than its budget',
  about: 'a model is a partner that is not deterministic, and sometimes makes no sense at all',
  fault:
    'arguments that are no JSON, twice and for ever; a tool that is not there; the same search again and ' +
    'again; six refusals with 429 and Retry-After in a row',
  counts: 'how each run ended, and that every answer that was paid for was charged once',
  code: {
    chain: ['queue/chain/agent/turn.ts'],
    queue: ['core/agent/absorb-answer.ts', 'queue/agent/steps/think.ts'],
    temporal: ['core/agent/absorb-answer.ts', 'workflows/agent/think.ts'],
  },
  expected: {
    // The machine is the same, and ten receives outlast the storm.
    chain: { verdict: 'held' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: vex,
  controls: [
    { on: 'queue', without: patienceWithTheModel, breaks: 'always malformed: 30 answers' },
  ],
  seconds: 20,
};

async function vex(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  await world.startWorker();
  if (stage.implementation === 'chain') return vexChain(stage, world);
  const outcomes = await Promise.all(
    TROUBLES.map((trouble, n) => meet(stage, world, { trouble, n })),
  );
  return together(outcomes, Object.fromEntries(TROUBLES.map(({ name, ends }) => [name, ends])));
}

async function meet(
  stage: Stage,
  world: World,
  { trouble, n }: { trouble: Trouble; n: number },
): Promise<Outcome> {
  const { name, ends, turns = 0 } = trouble;
  const id = await begin(world, trouble, n);
  const { outcome, turn, spent } = await untilAgent(world, id, hasEnded);
  const { completion } = await agentCounts(world, id);
  await stage.say(`${name}: ${await agentInWords(world, id)}, ${completion} answers paid for`);
  if (outcome !== ends) return broke(`${name}: ${outcome}`);
  if (turns > 0 && turn !== turns) return broke(`${name}: ${turn} answers`);
  const wrong = wronglyPaid(completion, spent);
  if (wrong) return broke(`${name}: ${wrong}`);
  return { verdict: 'held', counted: {} };
}

async function begin(world: World, { text, limits, fault }: Trouble, n: number): Promise<OrderId> {
  const requestRef = `REQ-${n + 1}`;
  const reference = businessKey({ buyerId: world.name, orderRef: requestRef });
  if (fault) await world.partners.setFault({ ...fault, reference });
  return ask(world, requestRef, text, limits);
}

/** It says nothing of an end: what is ordered or dead-lettered is counted. */
async function vexChain(stage: Stage, world: World): Promise<Outcome> {
  const transport = await openMessages(stage, world);
  const dead: string[] = [];
  for (const [n, trouble] of TROUBLES.entries()) {
    const before = (await countMessages(transport, world)).dead;
    const id = await begin(world, trouble, n);
    const after = (await untilDrained(transport, world)).dead;
    if (after > before) dead.push(trouble.name);
    const { completion } = await agentCounts(world, id);
    await stage.say(
      `${trouble.name}: ${after > before ? 'dead-lettered' : 'through'}, ${completion} answers paid for`,
    );
  }
  if (dead.length === 0) return { verdict: 'held', counted: { through: TROUBLES.length } };
  return { verdict: 'broke', how: `dead-lettered: ${dead.join(', ')}`, counted: {} };
}
