import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { rests } from '../../client/commands/agent/follow.ts';
import { modelEnv, modelToAsk, ownModel } from '../../client/model-choice.ts';
import { agentLines, nextAgentCommands } from '../../client/view/agent-position.ts';
import { transcriptLines } from '../../client/view/transcript.ts';
import type { Transcript } from '../../client/view/transcript.ts';
import type { AgentPosition } from '../../core/agent/contract.ts';
import type { WaitingFor } from '../../core/contract.ts';

const now = new Date('2026-12-01T12:00:00Z');
const since = '2026-12-01T11:58:00Z';
const escape = '\u001b[2J';

const position: AgentPosition = {
  id: { buyerId: 'acme', orderRef: 'REQ/7' },
  implementation: 'temporal',
  step: 'think',
  status: 'running',
  attempts: 1,
  since,
  startedAt: since,
  version: '1',
  history: [],
  turn: 3,
  spent: { calls: 3, lostCalls: 1, inputTokens: 4_000, outputTokens: 100, nanoEur: 12_300_000 },
  budget: { maxTurns: 30, maxTokens: 2_000_000, maxNanoEur: 2_000_000_000 },
};
const waitingFor = (gate: string): WaitingFor => {
  return { kind: 'person', gate, gateVersion: 2, who: 'requester', since };
};

test('a request shows its turn and what it has spent of what, lost calls included', () => {
  const lines = agentLines(position, now).join('\n');
  assert.match(lines, /^acme\/REQ%2F7 on temporal: running at think \(turn 3 of at most 30\)$/m);
  assert.match(
    lines,
    /spent +EUR 0\.0123 of EUR 2\.0000, 4100 of 2000000 tokens, 3 calls, 1 lost$/m,
  );
  assert.match(lines, /since .*\(2 minutes ago\)/);
  assert.deepEqual(nextAgentCommands(position), []);
});

test('a question is shown in words that do nothing to a terminal, with the command that answers it', () => {
  const asking: AgentPosition = {
    ...position,
    implementation: 'queue',
    status: 'waiting',
    step: 'ask',
    waitingFor: waitingFor('question'),
    question: { gate: 'question', gateVersion: 2, who: 'x', callId: 'c', text: `Blue?${escape}` },
  };
  const lines = agentLines(asking, now).join('\n');
  assert.match(lines, /question +Blue\?\\u\{1b\}\[2J$/m);
  assert.match(lines, /waits for +requester to answer question \(version 2\)/);
  const answer = 'q2t agent answer acme/REQ%2F7 "TEXT" --by NAME --on queue';
  assert.deepEqual(nextAgentCommands(asking), [answer]);
});

test('following stops at a question, and not at one that has been answered and not yet taken up', () => {
  const asking: AgentPosition = {
    ...position,
    status: 'waiting',
    waitingFor: waitingFor('question'),
  };
  const decided = {
    at: since,
    type: 'decided',
    gate: 'question',
    decision: 'blue',
    by: 'Ann',
  } as const;
  assert.equal(rests(asking), true);
  assert.equal(rests({ ...asking, history: [{ ...decided, gateVersion: 1 }] }), true);
  assert.equal(rests({ ...asking, history: [{ ...decided, gateVersion: 2 }] }), false);
  assert.equal(rests({ ...position, status: 'stuck' }), true);
  assert.equal(rests(position), false);
});

test('an approval names order and amount, and an order that is followed is found by its own name', () => {
  const id = { buyerId: 'acme', orderRef: 'REQ/7-PO' };
  const payable = { currency: 'EUR', minor: 400_000 };
  const asking: AgentPosition = {
    ...position,
    status: 'waiting',
    waitingFor: waitingFor('approval'),
    question: { gate: 'approval', gateVersion: 2, who: 'purchasing', payable },
    order: { id, started: false },
  };
  const lines = agentLines(asking, now).join('\n');
  assert.match(lines, /question +May acme\/REQ%2F7-PO be placed, for EUR 4000\.00\?$/m);
  assert.match(lines, /order +acme\/REQ%2F7-PO, not started yet$/m);
  const [command] = nextAgentCommands(asking);
  assert.equal(command, 'q2t agent answer acme/REQ%2F7 --approve|--reject --by NAME');
  const following: AgentPosition = { ...position, step: 'order', order: { id, started: true } };
  assert.deepEqual(nextAgentCommands(following), ['q2t where acme/REQ%2F7-PO']);
  const ended = { ...following, status: 'ended', outcome: 'exhausted' } as const;
  assert.match(agentLines(ended, now)[0] ?? '', /ended, exhausted \(turn 3 of at most 30\)$/);
  assert.deepEqual(nextAgentCommands(ended), []);
});

test('a stuck request shows what an operator can do: all but a fix', () => {
  const stuck: AgentPosition = {
    ...position,
    status: 'stuck',
    waitingFor: { kind: 'operator', reason: 'the key is refused', since },
  };
  const commands = nextAgentCommands(stuck).map((command) => command.split(' ')[3]);
  assert.deepEqual(commands, ['show', 'replay', 'discard']);
});

test('a transcript says who said what, cut unless all of it is wanted', () => {
  const calls = [{ callId: 'c1', name: 'find_suppliers', arguments: '{"query":"chairs"}' }];
  const long = `<data>${'x'.repeat(500)}`;
  const said: Transcript = {
    turns: [
      { turn: 1, before: [], answer: { role: 'assistant', content: 'I look.', calls } },
      {
        turn: 2,
        before: [{ role: 'tool', callId: 'c1', content: long }],
        answer: { role: 'assistant', content: escape, calls: [] },
      },
    ],
    since: [{ role: 'user', content: 'error: use a tool' }],
  };
  assert.deepEqual(transcriptLines(said, false), [
    'turn 1',
    '  model: I look.',
    '  model calls find_suppliers {"query":"chairs"}',
    'turn 2',
    `  find_suppliers: ${long.slice(0, 200)} … (306 characters more: --full)`,
    '  model: \\u{1b}[2J',
    'to be told',
    '  program: error: use a tool',
  ]);
  assert.ok(transcriptLines(said, true).includes(`  find_suppliers: ${long}`));
});

const own = {
  OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1',
  OPENAI_API_KEY: 'sk-a-secret-of-ours',
  AGENT_MODEL: 'qwen3',
  AGENT_PRICE_EUR_PER_MILLION_TOKENS: '0/0',
};

test("a request is asked with the user's own model, else that of the running up, else the scripted one", () => {
  const free = { inputNanoEurPerToken: 0, outputNanoEurPerToken: 0 };
  const up = { model: 'of-up', price: free };
  assert.deepEqual(modelToAsk(own, up), { model: 'qwen3', price: free });
  // A key alone names no model.
  assert.equal(modelToAsk({ OPENAI_API_KEY: own.OPENAI_API_KEY }, up), up);
  assert.equal(modelToAsk({ AGENT_MODEL: '' }, undefined).model, 'scripted-1');
  assert.equal(ownModel({ OPENAI_API_KEY: own.OPENAI_API_KEY }), undefined);
  // What goes into the file of `up` has no key in it.
  assert.deepEqual(Object.keys(ownModel(own) ?? {}), ['model', 'price']);
});

test('the settings of a model reach a worker by hand only, never with an isolated environment', () => {
  const env = { ...own, OPENAI_ORG_ID: 'org', AGENT_ID: 'of a build server', PATH: '/bin' };
  assert.deepEqual(modelEnv({ ...env, OPENAI_PROJECT_ID: '' }), { ...own, OPENAI_ORG_ID: 'org' });
  const isolated = isolatedEnv(env);
  assert.deepEqual(modelEnv(isolated), {});
  assert.equal(isolated['AGENT_ID'], 'of a build server');
});
