import type { OrderId } from '../../core/identity.ts';
import { agentCounts, hasEnded, paidPerTurn, untilAgent, wronglyPaid } from '../observe/agents.ts';
import { bytesIn } from '../observe/bytes.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { countMessages, openMessages } from '../observe/messages.ts';
import { broke, together } from '../observe/together.ts';
import { countsOnce, until } from '../observe/until.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { ask } from '../world/ask.ts';
import type { World } from '../world/world.ts';
import { orderIdOfRequest } from '../../core/agent/identity.ts';

const TURNS = { small: 20, full: 200 } as const;
const LIMITS = { maxTurns: 250, maxTokens: 100_000_000, maxNanoEur: 100_000_000_000 };

export const agentPayload: Scenario = {
  name: 'agent-payload',
  claim: 'a transcript of megabytes goes by no message and no history: they carry its name',
  about:
    'a message holds 256 KB, and an agent’s state passes that around step four; a payload of an engine has a limit too',
  fault:
    'an agent that reads data sheets of 8 KB, turn after turn, on a transport with the limits of SQS. ' +
    'Small: 20 turns, --full: 200',
  counts:
    'turns, answers paid for, effects of the order; bytes in the store and in what carries the run',
  code: {
    chain: ['queue/chain/agent/turn.ts', 'queue/transport/limits.ts'],
    queue: ['agent/think.ts', 'agent/store/files.ts', 'queue/agent/steps/think.ts'],
    temporal: ['agent/think.ts', 'agent/store/files.ts', 'activities/think.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'dead-lettered for its size' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: grow,
  seconds: 25,
};

async function grow(stage: Stage): Promise<Outcome> {
  const world = await stage.world({
    workerEnv: { Q2T_TRANSPORT_PROFILE: 'sqs', Q2T_AGENT_VISIBILITY_MS: '3000' },
  });
  await world.startWorker();
  const turns = TURNS[stage.size];
  const text = `40 office chairs with data sheet under 200 euro each [model: ponder ${turns}]`;
  const id = await ask(world, 'REQ-1', text, LIMITS);
  if (stage.implementation === 'chain') return growOnChain(stage, world, id);
  const { turn, spent } = await untilAgent(world, id, hasEnded, 240_000);
  await countsOnce(world, orderIdOfRequest(id), ({ mail }) => mail > 0);
  const { completion, ...effects } = await agentCounts(world, id);
  const outcomes = [judgeEffects({ ...effects, completion: 0 }, ONCE)];
  const how = wronglyPaid(completion, spent);
  if (how) outcomes.push(broke(how));
  return together(
    outcomes,
    { turns: turn },
    {
      paid: completion,
      // The world's only run.
      transcript: `${Math.round((await bytesIn(world.storeDir)) / 1_000)} KB`,
    },
  );
}

async function growOnChain(stage: Stage, world: World, id: OrderId): Promise<Outcome> {
  const transport = await openMessages(stage, world);
  await until('a dead letter', async () => {
    const { dead } = await countMessages(transport, world);
    return dead > 0 ? dead : undefined;
  });
  const paid = await paidPerTurn(world, id);
  const measured = { 'turns before': paid.length - 1, 'paid for the last one': paid.at(-1) ?? 0 };
  return { verdict: 'broke', how: 'dead-lettered for its size', counted: {}, measured };
}
