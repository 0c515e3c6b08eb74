import { data } from 'currency-codes';

/** Codes of ISO 4217 that nobody pays with: funds and units of account (gold, testing and "no currency" start with X). */
const NOT_MONEY = ['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW'];
const MONEY_WITH_X = ['XAF', 'XCD', 'XOF', 'XPF'];

/** ISO 4217's amendments since the list in the `currency-codes` package (June 2024). */
const WITHDRAWN = ['ANG', 'BGN', 'CUC'];
const ADDED: readonly [string, number][] = [['XCG', 2]];

const digitsByCode = new Map(
  data
    .filter(({ code }) => !code.startsWith('X') || MONEY_WITH_X.includes(code))
    .filter(({ code }) => !NOT_MONEY.includes(code) && !WITHDRAWN.includes(code))
    .map(({ code, digits }): [string, number] => [code, digits])
    .concat(ADDED),
);

/** How many decimals an amount in this currency has; undefined when it is no ISO 4217 code in use. */
export function currencyDigits(code: string): number | undefined {
  return digitsByCode.get(code);
}
