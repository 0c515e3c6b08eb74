import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { absorb } from '../../../core/agent/absorb.ts';
import type { AgentEvent, ToolResult } from '../../../core/agent/events.ts';
import type { AgentInput } from '../../../core/agent/input.ts';
import { next } from '../../../core/agent/next.ts';
import type { Action } from '../../../core/agent/next.ts';
import type { ReadCall } from '../../../core/agent/read-answer.ts';
import { costOf } from '../../../core/agent/spend.ts';
import { initialState } from '../../../core/agent/state.ts';
import type { AgentState } from '../../../core/agent/state.ts';
import type { ToolUse } from '../../../core/agent/uses.ts';
import { orderSchema } from '../../../core/order/schema.ts';
import { approvalNeeded } from '../../../core/decisions.ts';
import { chair, informed, inputOf, ref } from './runs.ts';

// Worlds that answer anything. What a run does in them is up to the machine, and so are the laws.

const articles = [chair, { ...chair, supplierId: 'sup_882', sku: 'CHAIR-2', unitPrice: '999.99' }];
const article = fc.constantFrom(...articles, { ...chair, sku: 'GHOST' });
const quantity = fc.constantFrom('1', '2.5', '40', '1000');

const words = fc.string({ maxLength: 20 });
const submit = fc.tuple(article, quantity).map(([{ supplierId, sku }, quantity]) => {
  return { does: 'submit' as const, supplierId, lines: [{ sku, quantity }] };
});
const use = fc.oneof(
  words.map((query) => ({ does: 'search' as const, query })),
  fc.tuple(article, quantity).map(([{ supplierId, sku }, quantity]) => {
    return { does: 'quote' as const, supplierId, sku, quantity };
  }),
  fc.constant({ does: 'budget' as const, amount: '800' }),
  words.map((question) => ({ does: 'ask' as const, question })),
  submit,
);
type Told = { ok: true; use: ToolUse } | { ok: false; error: string };
const call = fc.oneof(
  { weight: 5, arbitrary: use.map((each): Told => ({ ok: true, use: each })) },
  { weight: 1, arbitrary: fc.constant<Told>({ ok: false, error: 'no JSON' }) },
);
const reply = fc.record({
  calls: fc.oneof(
    { weight: 4, arbitrary: fc.array(call, { maxLength: 4 }) },
    { weight: 1, arbitrary: submit.map((each): Told[] => [{ ok: true, use: each }]) },
  ),
  refuses: fc.integer({ min: 0, max: 40 }),
  cut: fc.integer({ min: 0, max: 9 }),
  /** Shares of the worst case. */
  asked: fc.double({ min: 0, max: 1, noNaN: true }),
  said: fc.double({ min: 0, max: 1, noNaN: true }),
  counted: fc.boolean(),
  loses: fc.integer({ min: 0, max: 3 }),
  /** What people and partners do. */
  fails: fc.boolean(),
  decision: fc.constantFrom('approve' as const, 'reject' as const, 'silence' as const),
  size: fc.integer({ min: 200, max: 60_000 }),
});
type Reply = typeof reply extends fc.Arbitrary<infer T> ? T : never;
const replies = fc.array(reply, { minLength: 1, maxLength: 60 });
const limits = fc.record({
  maxTurns: fc.integer({ min: 1, max: 40 }),
  maxTokens: fc.integer({ min: 1, max: 400_000 }),
  maxNanoEur: fc.integer({ min: 0, max: 100_000_000 }),
  maxRepairs: fc.integer({ min: 0, max: 3 }),
});

/** What the world makes of an action; a world that has no more replies repeats its last. */
function happening(
  action: Action,
  { n, lost, replies }: { n: number; lost: number; replies: Reply[] },
): AgentEvent {
  const world = replies[Math.min(n, replies.length - 1)] as Reply;
  switch (action.do) {
    case 'call-model':
      return world.loses === 0 && n < replies.length
        ? { kind: 'calls-lost', turn: action.turn, lostCalls: lost + 1 }
        : modelAnswers(action, world);
    case 'use-tools':
      return {
        kind: 'tools-used',
        turn: action.turn,
        results: action.calls.map((each): ToolResult => {
          const { callId } = each;
          if (world.fails) return { callId, ok: false, error: 'no' };
          const available = { currency: 'EUR', minor: 10_000_000 };
          const quotes = articles.filter(({ sku }) => sku === each.article?.sku);
          const learnt = { search: { articles }, quote: { quotes }, budget: { available } };
          return { callId, ok: true, ref, size: world.size, learnt: learnt[each.use.does] };
        }),
      };
    case 'ask-person': {
      const { gateVersion, gate } = action.question;
      if (world.decision === 'silence') return { kind: 'nobody-answered', gateVersion };
      return gate === 'approval'
        ? { kind: 'person-decided', gateVersion, by: 'Bo', decision: world.decision }
        : { kind: 'person-answered', gateVersion, by: 'Ann', text: 'blue' };
    }
    case 'follow-order':
      return { kind: 'order-ended', outcome: 'completed' };
    case 'end':
      throw new Error('nothing happens after the end');
    default:
      return action satisfies never;
  }
}

function modelAnswers(action: Action & { do: 'call-model' }, world: Reply): AgentEvent {
  const { worst, turn } = action;
  const calls = world.calls.map((each, index): ReadCall => ({ callId: `c${index}`, ...each }));
  const refusal = { callId: 'r', ok: true, use: { does: 'refuse', reason: 'no' } } as const;
  const answer = {
    finish: world.cut === 0 ? ('length' as const) : ('tool-calls' as const),
    text: '',
    calls: world.refuses === 0 ? [refusal] : calls,
    ignoredCalls: 0,
    ...(world.counted && {
      usage: {
        inputTokens: Math.floor(worst.inputTokens * world.asked),
        outputTokens: Math.floor(worst.outputTokens * world.said),
      },
    }),
  };
  const entry = { ref, size: world.size, answerSize: Math.min(world.size, 2_000) };
  return { kind: 'model-answered', turn, answer, entry };
}

interface Lived {
  actions: Action[];
  events: AgentEvent[];
  states: AgentState[];
}

function live(input: AgentInput, replies: Reply[], from = initialState()): Lived {
  const lived: Lived = { actions: [], events: [], states: [from] };
  for (let n = 0; ; n++) {
    assert.ok(n < 2_000, 'a run that does not end');
    const state = lived.states.at(-1) as AgentState;
    const action = next(input, state);
    lived.actions.push(action);
    if (action.do === 'end') return lived;
    const event = happening(action, { n, lost: state.lost, replies });
    lived.events.push(event);
    lived.states.push(absorb(input, state, event));
  }
}

test('whatever the model answers, a run ends, within its turns', () => {
  fc.assert(
    fc.property(replies, limits, (replies, limits) => {
      const { actions, events } = live(inputOf(undefined, limits), replies);
      assert.equal(actions.at(-1)?.do, 'end');
      assert.ok(events.filter(({ kind }) => kind === 'model-answered').length <= limits.maxTurns);
    }),
  );
});

test('a budget of tokens or money is never passed, lost answers included', () => {
  fc.assert(
    fc.property(replies, limits, (replies, limits) => {
      const { states } = live(inputOf(undefined, limits), replies);
      for (const { spent } of states) {
        assert.ok(spent.nanoEur <= limits.maxNanoEur, `${spent.nanoEur} nano-euro are spent`);
        assert.ok(spent.inputTokens + spent.outputTokens <= limits.maxTokens);
      }
    }),
  );
});

test('an answer is charged once, however often it is heard of, and nothing else is charged', () => {
  fc.assert(
    fc.property(replies, limits, (replies, limits) => {
      const input = inputOf(undefined, limits);
      const { actions, events, states } = live(input, replies);
      events.forEach((event, n) => {
        const [before, after] = [states[n] as AgentState, states[n + 1] as AgentState];
        assert.equal(absorb(input, after, event), after, `${event.kind} was taken twice`);
        const paid = after.spent.nanoEur - before.spent.nanoEur;
        const action = actions[n];
        const worst = action?.do === 'call-model' ? action.worst : undefined;
        const used = event.kind === 'model-answered' ? (event.answer.usage ?? worst) : worst;
        assert.equal(paid, used ? costOf(used, input.price) : 0);
      });
      const last = states.at(-1) as AgentState;
      for (const event of events) assert.equal(absorb(input, last, event), last);
    }),
  );
});

test('the same events lead to the same state and the same next action, also after the state was written down and read again', () => {
  fc.assert(
    fc.property(replies, limits, (replies, limits) => {
      const input = inputOf(undefined, limits);
      const { events, states, actions } = live(input, replies);
      events.forEach((event, n) => {
        const read = JSON.parse(JSON.stringify(states[n])) as AgentState;
        assert.deepEqual(next(input, read), actions[n]);
        assert.deepEqual(absorb(input, read, event), states[n + 1]);
      });
    }),
    { numRuns: 40 },
  );
});

test('no order is started above the limit without a person’s yes, at other prices than those quoted, or without the money', () => {
  let started = 0;
  fc.assert(
    fc.property(replies, limits, (replies, limits) => {
      const roomy = { maxTokens: 4_000_000, maxNanoEur: 2_000_000_000, maxRepairs: 9 };
      const input = inputOf(undefined, { ...limits, ...roomy });
      const { actions, events, states } = live(input, replies, informed(input, 3_000_000));
      const index = actions.findIndex((action) => action.do === 'follow-order');
      const action = actions[index];
      if (action?.do !== 'follow-order') return;
      started += 1;
      assert.deepEqual(orderSchema.parse(action.order), action.order);
      const { draft, facts } = states[index] as AgentState;
      assert.ok(draft && draft.payable.minor <= (facts.available?.minor ?? -1));
      for (const line of action.order.lines) {
        assert.ok(
          articles.some((each) => each.sku === line.sku && each.unitPrice === line.unitPrice),
        );
      }
      if (!approvalNeeded(draft.payable, input.limits)) return;
      const yes = events[index - 1];
      assert.ok(yes?.kind === 'person-decided' && yes.decision === 'approve');
    }),
    { numRuns: 300 },
  );
  assert.ok(started > 10, `only ${started} runs ordered anything`);
});

test('what is sent stays bounded: the prompt by its limit, the state whatever happens', () => {
  fc.assert(
    fc.property(replies, (replies) => {
      const roomy = { maxTurns: 200, maxTokens: 1e9, maxNanoEur: 1e12, maxPromptBytes: 100_000 };
      const input = inputOf(undefined, { ...roomy, maxRepairs: 200 });
      const { actions, states } = live(input, replies);
      const biggestTurn = 60_000 * 5;
      for (const action of actions) {
        if (action.do !== 'call-model') continue;
        assert.ok(action.worst.inputTokens <= roomy.maxPromptBytes + biggestTurn);
      }
      for (const state of states) assert.ok(JSON.stringify(state).length < 60_000);
    }),
    { numRuns: 30 },
  );
});
