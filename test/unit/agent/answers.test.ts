import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asGateAnswer, eventOf, judgeAnswer } from '../../../core/agent/answers.ts';
import type { AgentAnswer } from '../../../core/agent/contract.ts';
import type { GateState } from '../../../core/decisions.ts';

const at = { gateVersion: 1, by: 'kim' };
const words: AgentAnswer = { gate: 'question', ...at, text: 'blue' };
const yes: AgentAnswer = { gate: 'approval', ...at, decision: 'approve' };

function opened(gate: string): GateState {
  const state = { kind: 'open' } as const;
  return { upcoming: [], opened: [{ gate, gateVersion: 1, deadlineAt: 10, state }] };
}

test('words answer a question, and a yes an approval', () => {
  assert.equal(judgeAnswer(opened('question'), words, 0).kind, 'accepted');
  assert.equal(judgeAnswer(opened('approval'), yes, 0).kind, 'accepted');
  assert.deepEqual(eventOf(asGateAnswer(words)), { kind: 'person-answered', ...at, text: 'blue' });
  assert.deepEqual(eventOf(asGateAnswer(yes)), {
    kind: 'person-decided',
    ...at,
    decision: 'approve',
  });
});

test('an answer of the other kind is none, and is told what would be', () => {
  const toQuestion = judgeAnswer(opened('question'), { ...yes, gate: 'question' }, 0);
  assert.ok(toQuestion.kind === 'conflict' && toQuestion.conflict === 'wrong-gate');
  assert.match(toQuestion.reason, /with words/);
  const toApproval = judgeAnswer(opened('approval'), { ...words, gate: 'approval' }, 0);
  assert.ok(toApproval.kind === 'conflict' && toApproval.conflict === 'wrong-gate');
  assert.match(toApproval.reason, /yes or no/);
});

test('late and second answers are judged as those to an order', () => {
  assert.equal(judgeAnswer(opened('question'), words, 10).kind, 'conflict');
  const state = { kind: 'answered', decision: 'blue', by: 'kim' } as const;
  const gate = { gate: 'question', gateVersion: 1, deadlineAt: 10, state };
  const answered: GateState = { upcoming: [], opened: [gate] };
  assert.deepEqual(judgeAnswer(answered, words, 20), { kind: 'accepted', repeated: true });
  const other = judgeAnswer(answered, { ...words, text: 'red' }, 20);
  assert.equal(other.kind === 'conflict' && other.conflict, 'second');
});
