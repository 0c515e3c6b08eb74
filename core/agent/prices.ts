import { Exact } from '../order/money.ts';

/** What a model costs. A nano-euro is a billionth of a euro: small enough that no price has fractions of it. */
export interface ModelPrice {
  inputNanoEurPerToken: number;
  outputNanoEurPerToken: number;
}

export const NANO_EUR_PER_EUR = 1_000_000_000;

/**
 * The price table. Providers change theirs, so a real model's price is stated where the model is
 * chosen (`parsePrice`); here is what must have one without anybody stating it.
 */
const PRICES: Readonly<Record<string, ModelPrice>> = {
  // Made up, of the order of a small hosted model: 0.15 and 0.60 euro per million tokens.
  'scripted-1': { inputNanoEurPerToken: 150, outputNanoEurPerToken: 600 },
};

/** The price of a model in the table; undefined when nobody has stated one, and then it must not be called. */
export function priceOf(model: string): ModelPrice | undefined {
  return Object.hasOwn(PRICES, model) ? PRICES[model] : undefined;
}

/**
 * A price as people write it: euro per million input and output tokens, `0.15/0.60`; `0/0` for a model
 * of one's own. Rounded up to whole nano-euros a token. Undefined when it is none.
 */
export function parsePrice(text: string): ModelPrice | undefined {
  const [, input, output] = /^(\d{1,6}(?:\.\d{1,6})?)\/(\d{1,6}(?:\.\d{1,6})?)$/.exec(text) ?? [];
  if (input === undefined || output === undefined) return undefined;
  return { inputNanoEurPerToken: perToken(input), outputNanoEurPerToken: perToken(output) };
}

/** Euro in nano-euros, rounded down: a budget is never more than what was said. */
export function nanoEur(eur: string): number {
  return Number(new Exact(eur).times(NANO_EUR_PER_EUR).round(0, Exact.roundDown).toString());
}

/** For people: `EUR 0.0123`, rounded up, since it was spent. */
export function formatNanoEur(amount: number): string {
  return `EUR ${new Exact(amount).div(NANO_EUR_PER_EUR).toFixed(4, Exact.roundUp)}`;
}

function perToken(eurPerMillion: string): number {
  return Number(new Exact(eurPerMillion).times(1_000).round(0, Exact.roundUp).toString());
}
