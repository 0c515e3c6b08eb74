import type { PartnerName } from '../partners/contract.ts';

/**
 * The task queue on which the activities of a partner run. One queue for each, since the server keeps a
 * rate for a task queue: so a partner's limit holds for all workers together. Workflows know this type only.
 */
export type PartnerQueue<P extends PartnerName> = `${string}-${P}`;

/** @param taskQueue the queue of the orders themselves */
export function partnerQueue<P extends PartnerName>(taskQueue: string, partner: P) {
  return `${taskQueue}-${partner}` satisfies PartnerQueue<P>;
}
