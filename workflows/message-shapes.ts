import { MAX_TEXT_CHARS, mustBeText } from '../core/answer-shapes.ts';
import type { OperatorCommand } from './definitions.ts';

// Validators look at the shape only: an update they refuse leaves no trace, and an answer that comes at
// the wrong time must leave one. What they throw is what the sender reads.

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
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT_CHARS) : otherwise;
}
