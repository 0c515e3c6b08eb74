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
 * How often a call that uses at most `worst` may be made before the budget could be passed. Asked
 * before the call, since afterwards the money is gone.
 */
export function callsWithin(budget: Budget, spent: Spent, worst: Usage, price: ModelPrice): number {
  const tokensLeft = budget.maxTokens - spent.inputTokens - spent.outputTokens;
  const moneyLeft = budget.maxNanoEur - spent.nanoEur;
  const byTokens = Math.floor(tokensLeft / (worst.inputTokens + worst.outputTokens));
  const cost = costOf(worst, price);
  // A model of one's own costs nothing, and nothing is within every budget that is not overdrawn.
  const byMoney = cost === 0 ? byTokens : Math.floor(moneyLeft / cost);
  return Math.max(0, Math.min(byTokens, byMoney));
}

/** In words, what there is too little of for one more call. */
export function whatIsShort(budget: Budget, spent: Spent, worst: Usage): 'tokens' | 'money' {
  const tokens = spent.inputTokens + spent.outputTokens + worst.inputTokens + worst.outputTokens;
  return tokens > budget.maxTokens ? 'tokens' : 'money';
}

/**
 * One answer is charged, and with it the calls before it whose answer was lost: nobody can say whether
 * they were paid for, so they count at their worst. So does an answer that came without a count.
 */
export function charge(
  spent: Spent,
  call: { usage: Usage | undefined; worst: Usage; lostCalls: number },
  price: ModelPrice,
): Spent {
  const { worst, lostCalls } = call;
  const used = call.usage ?? worst;
  return {
    calls: spent.calls + 1,
    lostCalls: spent.lostCalls + lostCalls,
    inputTokens: spent.inputTokens + used.inputTokens + lostCalls * worst.inputTokens,
    outputTokens: spent.outputTokens + used.outputTokens + lostCalls * worst.outputTokens,
    nanoEur: spent.nanoEur + costOf(used, price) + lostCalls * costOf(worst, price),
  };
}
