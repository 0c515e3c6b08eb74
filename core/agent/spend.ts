import type { Usage } from './messages.ts';
import type { AgentPolicy } from './policy.ts';
import type { ModelPrice } from './prices.ts';

/** What a run has spent on its model. Calls whose answer was lost are in it at the most they can have cost. */
export interface Spent {
  calls: number;
  lostCalls: number;
  inputTokens: number;
  outputTokens: number;
  nanoEur: number;
}

export const NOTHING_SPENT: Spent = {
  calls: 0,
  lostCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  nanoEur: 0,
};

type Budget = Pick<AgentPolicy, 'maxTokens' | 'maxNanoEur'>;

export function costOf({ inputTokens, outputTokens }: Usage, price: ModelPrice): number {
  return inputTokens * price.inputNanoEurPerToken + outputTokens * price.outputNanoEurPerToken;
}

/**
 * What there would be too little of if one more call used all of `worst`; undefined when the budget has
 * room for it. Asked before the call, since afterwards the money is gone.
 */
export function whatIsShort(
  budget: Budget,
  spent: Spent,
  worst: Usage,
  price: ModelPrice,
): 'tokens' | 'money' | undefined {
  const tokens = spent.inputTokens + spent.outputTokens + worst.inputTokens + worst.outputTokens;
  if (tokens > budget.maxTokens) return 'tokens';
  return spent.nanoEur + costOf(worst, price) > budget.maxNanoEur ? 'money' : undefined;
}

/** One answer is charged; one that came without a count, at the most it can have cost. */
export function charge(
  spent: Spent,
  { usage, worst }: { usage: Usage | undefined; worst: Usage },
  price: ModelPrice,
): Spent {
  return { ...add(spent, usage ?? worst, price), calls: spent.calls + 1 };
}

/** A call whose answer was lost: nobody can say whether it was paid for, so it counts at its worst. */
export function chargeLost(spent: Spent, worst: Usage, price: ModelPrice): Spent {
  return { ...add(spent, worst, price), lostCalls: spent.lostCalls + 1 };
}

function add(spent: Spent, used: Usage, price: ModelPrice): Spent {
  return {
    ...spent,
    inputTokens: spent.inputTokens + used.inputTokens,
    outputTokens: spent.outputTokens + used.outputTokens,
    nanoEur: spent.nanoEur + costOf(used, price),
  };
}
