import type { AgentAnswer } from './agent/contract.ts';
import type { Decision } from './contract.ts';

/** The longest text that a person may give with an answer or a command, in characters. */
export const MAX_TEXT_CHARS = 1_000;

/** Throws a RangeError when `answer` is no Decision. It comes from outside, whatever its type says. */
export function checkDecision(answer: Partial<Decision> | undefined): void {
  mustBeText('gate', answer?.gate);
  mustBeText('by', answer?.by);
  if (answer?.note !== undefined) mustBeText('note', answer.note);
  if (answer?.decision !== 'approve' && answer?.decision !== 'reject') {
    throw new RangeError("decision must be 'approve' or 'reject'");
  }
  mustBeVersion(answer.gateVersion);
}

/** Throws a RangeError when `answer` is no AgentAnswer: words, or a decision as an order's. */
export function checkAnswer(answer: Partial<AgentAnswer> | undefined): void {
  if (!answer || !('text' in answer)) return checkDecision(answer);
  mustBeText('gate', answer.gate);
  mustBeText('by', answer.by);
  mustBeText('text', answer.text);
  mustBeVersion(answer.gateVersion);
}

/** Throws a RangeError when `value` is no text of the length that a history entry may take. */
export function mustBeText(name: string, value: unknown): void {
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT_CHARS) {
    const given = typeof value === 'string' ? `, not ${value.length}` : '';
    throw new RangeError(`${name} must be a text of 1 to ${MAX_TEXT_CHARS} characters${given}`);
  }
}

function mustBeVersion(value: unknown): void {
  if (!Number.isInteger(value)) throw new RangeError('gateVersion must be a whole number');
}
