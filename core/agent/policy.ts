import { z } from 'zod';
import { NANO_EUR_PER_EUR } from './prices.ts';

const ms = z.number().int().nonnegative();
const count = z.number().int().positive();
const hour = 3_600_000;
const day = 24 * hour;

/** Every limit and wait of the buying agent. What a step may try and for how long is the order's policy. */
export const agentPolicySchema = z.strictObject({
  /** Answers of the model, those that had to be repaired included. */
  maxTurns: count,
  /** Tokens of all calls, asked and answered. */
  maxTokens: count,
  /** What the calls of the model may cost together. */
  maxNanoEur: z.number().int().nonnegative(),
  /** One answer is cut here: what it may cost at most follows from it. */
  maxOutputTokens: count,
  /** Answers in a row that could not be used. One more ends the run. */
  maxRepairs: z.number().int().nonnegative(),
  maxCallsPerTurn: count,
  /** Of one call's arguments, as the model wrote them. */
  maxArgumentChars: count,
  /** One result of a tool; a longer one is cut. */
  maxResultChars: count,
  /** What is sent word for word. Beyond it the oldest turns are replaced by what is known from them. */
  maxPromptBytes: count,
  /** Orders above this much (major units of their currency) need a person; a currency without a limit always does. */
  approvalLimits: z.record(z.string(), z.string().regex(/^\d{1,12}(\.\d{1,6})?$/)),
  approver: z.string(),
  /** Who answers the agent's questions. */
  answerer: z.string(),
  escalateTo: z.string(),
  answerReminderMs: ms,
  answerEscalationMs: ms,
  answerDeadlineMs: ms,
  modelTimeoutMs: ms,
});
export type AgentPolicy = z.infer<typeof agentPolicySchema>;

export const defaultAgentPolicy: AgentPolicy = {
  maxTurns: 30,
  maxTokens: 2_000_000,
  maxNanoEur: 2 * NANO_EUR_PER_EUR,
  maxOutputTokens: 2_000,
  maxRepairs: 3,
  maxCallsPerTurn: 8,
  maxArgumentChars: 8_000,
  maxResultChars: 16_000,
  maxPromptBytes: 160_000,
  approvalLimits: { EUR: '1000', USD: '1100', GBP: '850', JPY: '160000' },
  approver: 'purchasing',
  answerer: 'requester',
  escalateTo: 'finance-director',
  answerReminderMs: 4 * hour,
  answerEscalationMs: 1 * day,
  answerDeadlineMs: 3 * day,
  modelTimeoutMs: 60_000,
};
