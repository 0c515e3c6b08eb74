/** An amount in whole minor units of its currency (cents, yen, fils): a safe integer, never a fraction. */
export interface Money {
  currency: string;
  minor: number;
}
