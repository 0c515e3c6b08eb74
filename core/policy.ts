import { z } from 'zod';

const ms = z.number().int().nonnegative();
const count = z.number().int().positive();

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;

/**
 * Every limit and wait of the purchase order, shared by all implementations so that a comparison is
 * fair. It is an input to a run: tests and the lab shorten the durations, product code never does.
 */
export const policySchema = z.strictObject({
  /** Orders above this much (major units of their own currency) need a person; a currency without a limit always does. */
  approvalLimits: z.record(z.string(), z.string().regex(/^\d{1,12}(\.\d{1,6})?$/)),
  approver: z.string(),
  escalateTo: z.string(),
  approvalReminderMs: ms,
  approvalEscalationMs: ms,
  approvalDeadlineMs: ms,
  /** A charge due on a date is made when the clocks of the order's time zone show this hour. */
  chargeHour: z.number().int().min(0).max(23),
  /** The time zone of orders that name none (a UBL order never does). */
  chargeTimeZone: z.string(),
  /** Below this score (0 to 1000) the bureau's answer is a no. */
  minCreditScore: z.number().int(),
  /** Lines of one order priced at the same time. */
  fanOut: count,
  /** Attempts of one step of one run that end in `busy` or `unknown`, the first included. */
  maxAttempts: count,
  /** Attempts of one step that end in `missing`. */
  maxMissingAttempts: count,
  /** Attempts of one step that ended because its worker was lost. */
  maxLostWorkers: count,
  retryInitialMs: ms,
  retryMaxMs: ms,
  missingDelayMs: ms,
  /** The longest wait a partner may ask for (Retry-After); one that asks for more makes the run stuck. */
  retryAfterMaxMs: ms,
  /** How long a request of a dead worker may still land at a partner: wait this long before asking whether it did. */
  settleMs: ms,
  /** One HTTP call to a partner. */
  partnerTimeoutMs: ms,
  /** One attempt of a step, ask-before-act and settling included. */
  attemptTimeoutMs: ms,
  /** A worker that is silent for this long counts as lost (Temporal: heartbeat; queue: lease). */
  heartbeatMs: ms,
  /** Temporal's workflow task timeout, the queue's twin of which is the lease. */
  workflowTaskTimeoutMs: ms,
});
export type Policy = z.infer<typeof policySchema>;

export const defaultPolicy: Policy = {
  approvalLimits: { EUR: '10000', USD: '11000', GBP: '8500', JPY: '1600000' },
  approver: 'purchasing',
  escalateTo: 'finance-director',
  approvalReminderMs: 1 * day,
  approvalEscalationMs: 2 * day,
  approvalDeadlineMs: 5 * day,
  chargeHour: 9,
  chargeTimeZone: 'UTC',
  minCreditScore: 400,
  fanOut: 8,
  maxAttempts: 10,
  maxMissingAttempts: 4,
  maxLostWorkers: 5,
  retryInitialMs: 500,
  retryMaxMs: 10 * 60 * second,
  missingDelayMs: 2 * second,
  retryAfterMaxMs: 1 * day,
  settleMs: 2 * second,
  partnerTimeoutMs: 10 * second,
  attemptTimeoutMs: 60 * second,
  heartbeatMs: 10 * second,
  workflowTaskTimeoutMs: 10 * second,
};

/** Largest sizes an order may have; a larger one is refused with the limit named. */
export const orderLimits = {
  /** 2,000-line orders are real and tried; a run's input must stay far below the engine's 2 MB payload limit. */
  maxLines: 2_500,
  maxOrderBytes: 1_000_000,
  /** A file is refused before it is parsed. */
  maxFileBytes: 10_000_000,
  maxChargeAheadDays: 366,
} as const;
