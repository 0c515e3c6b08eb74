import type { AgentAnswer, AgentPosition } from '../../core/agent/contract.ts';
import type { HistoryEntry } from '../../core/history.ts';
import type { OrderId } from '../../core/identity.ts';
import { agentCounts, agentInWords, hasEnded, untilAgent, wronglyPaid } from '../observe/agents.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { broke, together } from '../observe/together.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { ask } from '../world/ask.ts';
import { approvalInTheProgram } from '../guards/agent.ts';
import type { WorkerHandle, World } from '../world/world.ts';

const DAY_MS = 86_400_000;
/** Above what the agent may order alone, below what the order itself needs a yes for. */
const LARGE = '100 office chairs under 200 euro each, ask me first';

export const agentApprovalDays: Scenario = {
  name: 'agent-approval-days',
  claim:
    'an agent waits for people for days and goes on where it stood, with a worker that never saw it',
  about: 'a position that is held for days is what a queue does not have',
  fault:
    'the agent asks what it should buy, and later for the order’s approval; at both times two days ' +
    'pass, then the worker is killed; answers also come too early and twice',
  counts:
    'answers of the model that were paid for, effects of the order, reminders, what each answer was told',
  code: {
    chain: ['queue/chain/agent/open.ts'],
    queue: ['queue/agent/steps/ask.ts', 'queue/gates/approval.ts', 'queue/timers/fire-due.ts'],
    temporal: ['workflows/agent/ask.ts'],
  },
  expected: {
    chain: { verdict: 'cannot', reason: 'a chain has no pause that an answer could meet' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: wait,
  controls: [{ on: 'queue', without: approvalInTheProgram, breaks: 'approved by nobody' }],
  seconds: 20,
};

async function wait(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  const id = await ask(world, 'REQ-1', LARGE);
  if (stage.implementation === 'chain') return answerChain(world, id);

  const told: string[] = [];
  let worker = await world.startWorker();
  await untilAsked(world, id, 'question');
  worker = await twoDaysLater(stage, world, { id, worker, escalated: 1 });
  told.push(await answer(world, id, { gate: 'approval', by: 'ann', decision: 'approve' }));
  told.push(await answer(world, id, { gate: 'question', by: 'ann', text: 'the blue ones' }));
  told.push(await answer(world, id, { gate: 'question', by: 'bob', text: 'red' }, 1));
  if (!(await untilAsked(world, id, 'approval'))) return broke('approved by nobody');
  await twoDaysLater(stage, world, { id, worker, escalated: 2 });
  told.push(await answer(world, id, { gate: 'approval', by: 'ann', decision: 'approve' }));
  const { turn, history, spent } = await untilAgent(world, id, hasEnded);
  const { completion, ...effects } = await agentCounts(world, id);
  const outcomes = [judgeEffects({ ...effects, completion: 0 }, ONCE)];
  const how = wronglyPaid(completion, spent);
  if (how) outcomes.push(broke(how));
  const reminded = count(history, 'reminded');
  if (reminded !== 2) outcomes.push(broke(`reminded ${reminded} times for two questions`));
  if (told.join() !== 'early,accepted,second,accepted') outcomes.push(broke(told.join(' ')));
  return together(
    outcomes,
    { days: 4, questions: 2, reminders: reminded, turns: turn },
    { paid: completion },
  );
}

/** Waits for the agent to ask at that gate. False when it ended instead. */
async function untilAsked(world: World, id: OrderId, gate: string): Promise<boolean> {
  const asks = ({ question }: AgentPosition) => question?.gate === gate;
  return asks(await untilAgent(world, id, (each) => asks(each) || hasEnded(each)));
}

/** Lets the days pass, kills the worker that saw to what was due on them, and returns another one. */
async function twoDaysLater(
  stage: Stage,
  world: World,
  { id, worker, escalated }: { id: OrderId; worker: WorkerHandle; escalated: number },
): Promise<WorkerHandle> {
  const { forward } = await world.agents();
  await forward(id, 2 * DAY_MS);
  await untilAgent(world, id, ({ history }) => count(history, 'escalated') === escalated);
  await worker.kill();
  await stage.say(`two days later, with no worker alive: ${await agentInWords(world, id)}`);
  return world.startWorker();
}

function count(history: readonly HistoryEntry[], type: HistoryEntry['type']): number {
  return history.filter((entry) => entry.type === type).length;
}

type Said = { gate: string; by: string } & ({ text: string } | { decision: 'approve' });

/** Answers the open question, or that version of it, and returns what was said to that. */
async function answer(world: World, id: OrderId, said: Said, version?: number): Promise<string> {
  const { pipeline } = await world.agents();
  const gateVersion = version ?? (await openVersion(world, id));
  const answered: AgentAnswer = { ...said, gateVersion };
  const result = await pipeline.answer(id, answered);
  return result.kind === 'conflict' ? result.conflict : result.kind;
}

async function openVersion(world: World, id: OrderId): Promise<number> {
  const { question } = await untilAgent(world, id, (position) => position.question !== undefined);
  return question?.gateVersion ?? 0;
}

async function answerChain(world: World, id: OrderId): Promise<Outcome> {
  const { pipeline } = await world.agents();
  const said: AgentAnswer = { gate: 'approval', gateVersion: 1, by: 'ann', decision: 'approve' };
  const result = await pipeline.answer(id, said);
  if (result.kind !== 'cannot') throw new Error(`the chain was answered: ${result.kind}`);
  return { verdict: 'cannot', reason: result.reason };
}
