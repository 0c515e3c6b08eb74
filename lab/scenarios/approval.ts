import type { Position } from '../../core/contract.ts';
import { businessKey, orderIdOf, type OrderId } from '../../core/identity.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { countMessages, openMessages } from '../observe/messages.ts';
import { broke, together } from '../observe/together.ts';
import { until, untilPosition, untilThrough } from '../observe/until.ts';
import { whereInWords } from '../observe/words.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import { DEAR } from '../world/order.ts';
import type { World } from '../world/world.ts';
import { entriesOf, openAnswers, YES } from './approval/answers.ts';

const DAY_MS = 86_400_000;
/** A partner holds an order while people answer, however long that takes here. */
const PATIENCE = { partnerTimeoutMs: 120_000, attemptTimeoutMs: 240_000 };

/** The stock that was held while people were asked is released. */
const EXPIRED = { enquiry: 1, screening: 1, reservation: 1, release: 1 };

export const approval: Scenario = {
  name: 'approval',
  claim:
    'a person is asked once, reminded once and heard once, however many workers and people there are',
  about: 'a queue has no notion of a wait that lasts three days, nor of the question that is open',
  fault:
    'answers that come too early, too late, to another gate, twice, after the end, and two at the same ' +
    'moment; two workers to whom reminder and escalation come due at once; then every worker is killed',
  counts:
    'what each answer was told and whether the history has it, reminders, effects of both orders',
  code: {
    chain: ['queue/chain/open.ts', 'queue/chain/steps.ts'],
    queue: ['queue/gates/decide.ts', 'queue/gates/approval.ts', 'queue/timers/fire-due.ts'],
    temporal: ['workflows/approve.ts', 'client/pipelines/temporal/decide.ts'],
  },
  expected: {
    chain: { verdict: 'cannot', reason: 'a chain has no pause that an answer could meet' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: (stage) => (stage.implementation === 'chain' ? askChain(stage) : ask(stage)),
  limitMs: { small: 180_000 },
  seconds: 20,
};

async function ask(stage: Stage): Promise<Outcome> {
  const { say } = stage;
  const world = await stage.world({ policy: PATIENCE });
  const { partners, pipeline, policy } = world;
  const answers = openAnswers(world);
  const dear = world.order('PO-2026-0193', { lines: DEAR });
  const forgotten = world.order('PO-FORGOTTEN', { lines: DEAR });
  const [id, forgottenId] = [orderIdOf(dear), orderIdOf(forgotten)];

  await hold(world, id, 'enquire');
  const workers = await Promise.all([world.startWorker(), world.startWorker()]);
  for (const order of [dear, forgotten]) await pipeline.submit(order, policy);
  await partners.waitUntilHeld({ operation: 'enquire' }, 60_000);
  await answers.give(id, {}, 'early');
  await partners.clearFault();
  for (const each of [id, forgottenId]) await untilPosition(world, each, asksSomebody);
  await answers.give(id, { gate: 'payment' }, 'wrong-gate');
  await answers.give(id, { gateVersion: 2 }, 'wrong-gate');
  await say(`asked once, answered too early and at other gates: ${await whereInWords(world, id)}`);

  await Promise.all([world.forward(id, 3 * DAY_MS), world.forward(forgottenId, 6 * DAY_MS)]);
  await untilPosition(world, id, ({ history }) => entriesOf(history, 'escalated') > 0);
  await untilThrough(world, forgottenId);
  await answers.give(forgottenId, {}, 'late');
  await Promise.all(workers.map((worker) => worker.kill()));
  await say(`three days later, with no worker alive: ${await whereInWords(world, id)}`);
  await untilPosition(world, id, asksSomebody);

  await world.startWorker();
  await hold(world, id, 'charge');
  const first = await answers.giveAtOnce(id, { by: 'ann' }, { by: 'bob' });
  await answers.give(id, { by: first }, 'accepted');
  await answers.give(id, { by: 'cleo', decision: 'reject' }, 'second');
  await say(`ann and bob at the same moment: ${first} was first`);
  await partners.clearFault();
  await untilThrough(world, id);
  await answers.give(id, { by: 'dan' }, 'ended');
  return judge(world, { id, forgottenId, wrong: answers.wrong, given: answers.given });
}

interface Found {
  id: OrderId;
  forgottenId: OrderId;
  wrong: readonly string[];
  given: number;
}

async function judge(world: World, { id, forgottenId, wrong, given }: Found): Promise<Outcome> {
  const { history } = await untilPosition(world, id, ({ status }) => status === 'ended');
  const other = await untilPosition(world, forgottenId, ({ outcome }) => outcome === 'expired');
  const events = [...history, ...other.history];
  const conflicts = entriesOf(events, 'decision-conflict');
  const outcomes: Outcome[] = [
    judgeEffects(await world.partners.counts(businessKey(id)), ONCE),
    judgeEffects(await world.partners.counts(businessKey(forgottenId)), EXPIRED),
  ];
  outcomes.push(...wrong.map(broke));
  const [reminded, escalated] = [entriesOf(events, 'reminded'), entriesOf(events, 'escalated')];
  if (reminded !== 2) outcomes.push(broke(`reminded ${reminded} times for two orders`));
  if (escalated !== 2) outcomes.push(broke(`escalated ${escalated} times for two orders`));
  return together(outcomes, {
    answers: given,
    taken: entriesOf(events, 'decided'),
    'refused with an entry in the history': conflicts,
    'reminders of an order': reminded / 2,
  });
}

const asksSomebody = ({ waitingFor }: Position) => waitingFor?.kind === 'person';

async function hold({ partners }: World, id: OrderId, operation: string): Promise<void> {
  const reference = businessKey(id);
  await partners.setFault({ operation, reference, effect: { kind: 'hang-before' } });
}

/** It has nowhere to wait: the order goes to the dead letters, and an answer finds nothing. */
async function askChain(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  const order = world.order('PO-2026-0193', { lines: DEAR });
  const transport = await openMessages(stage, world);
  await world.startWorker();
  await world.pipeline.submit(order, world.policy);
  const { dead } = await until('the order among the dead letters', async () => {
    const counts = await countMessages(transport, world);
    return counts.dead > 0 ? counts : undefined;
  });
  await stage.say(`an order that needs a person: ${dead} dead letter`);
  const result = await world.pipeline.decide(orderIdOf(order), YES);
  if (result.kind !== 'cannot') throw new Error(`the chain was answered: ${result.kind}`);
  return { verdict: 'cannot', reason: result.reason };
}
