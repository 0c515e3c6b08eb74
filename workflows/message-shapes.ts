import type { AgentAnswer } from '../core/agent/contract.ts';
import type { Decision } from '../core/contract.ts';
import type { OperatorCommand } from './definitions.ts';

// Validators look at the shape only: an update they refuse leaves no trace, and an answer that comes at
// the wrong time must leave one. What they throw is what the sender reads.

const MAX_TEXT = 1_000;

/** Throws when `answer` is no Decision. It comes from outside, whatever its type says. */
export function checkDecision(answer: Partial<Decision> | undefined): void {
  mustBeText('gate', answer?.gate);
  mustBeText('by', answer?.by);
  if (answer?.note !== undefined) mustBeText('note', answer.note);
  if (answer?.decision !== 'approve' && answer?.decision !== 'reject') {
    throw new Error("decision must be 'approve' or 'reject'");
  }
  if (!Number.isInteger(answer.gateVersion)) throw new Error('gateVersion must be a whole number');
}

/** Throws when `answer` is no AgentAnswer: words, or a decision as an order's. */
export function checkAnswer(answer: Partial<AgentAnswer> | undefined): void {
  if (!answer || !('text' in answer)) return checkDecision(answer);
  mustBeText('gate', answer.gate);
  mustBeText('by', answer.by);
  mustBeText('text', answer.text);
  if (!Number.isInteger(answer.gateVersion)) throw new Error('gateVersion must be a whole number');
}

/** Throws when `command` is no OperatorCommand; an order's own rules are checked when its run validates it. */
export function checkCommand(command: Partial<OperatorCommand> | undefined): void {
  mustBeText('by', command?.by);
  mustBeText('why', command?.why);
  const known = ['replay', 'discard', 'fix'].includes(command?.action ?? '');
  if (!known) throw new Error("action must be 'replay', 'discard' or 'fix'");
  if (command?.action !== 'fix') return;
  const order = command.order;
  if (typeof order?.buyer?.id !== 'string' || typeof order.orderRef !== 'string') {
    throw new Error('a fix needs the whole corrected order');
  }
  if (!Array.isArray(order.lines)) throw new Error('order.lines must be a list');
}

/** `value` cut to what a history entry may take, or `otherwise` when it is no text. */
export function shortText(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : otherwise;
}

function mustBeText(name: string, value: unknown): void {
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT) {
    throw new Error(`${name} must be a text of 1 to ${MAX_TEXT} characters`);
  }
}
