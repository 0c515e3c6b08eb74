import type { FailureClass } from '../../core/failures.ts';

/** The queues of the two shapes of child: a line to price, a mail to send. */
export const LINES_QUEUE = 'lines';
export const MAIL_QUEUE = 'mail';
export type ChildQueue = typeof LINES_QUEUE | typeof MAIL_QUEUE;

/** The whole content of a child's message: the rest is in its row. */
export interface ChildWakeUp {
  joinId: string;
  childId: string;
}

/** How a child ended. A dead one is an outcome too: otherwise its run would wait for ever. */
export type ChildOutcome =
  | { kind: 'ok'; value: string }
  | { kind: 'refused'; message: string }
  | { kind: 'failed'; failureClass: FailureClass | 'lost-worker'; message: string };

export interface LineInput {
  supplierId: string;
  currency: string;
  sku: string;
  unitPrice?: string;
}

export interface MailInput {
  messageId: string;
  to: string;
  subject: string;
  text: string;
}
