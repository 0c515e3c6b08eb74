import type { OrderLine } from '../../../core/order/schema.ts';
import { until } from '../../observe/until.ts';
import type { Outcome } from '../../scenario.ts';
import type { World } from '../../world/world.ts';

/** Skips more requests than there are: a fault that strikes nobody and counts whom it sees. */
const NEVER = 1_000_000;

export interface Quotes {
  /** All other prices have been asked for, and the last one is not answered. */
  untilLastIsHeld(): Promise<void>;
  /** How often a price other than the last was asked for once more. */
  knownAskedAgain(): Promise<number>;
}

/** Has the supplier keep the price of the last line to itself, once, and counts what it is asked for. */
export async function watchQuotes(
  { partners }: World,
  lines: readonly OrderLine[],
): Promise<Quotes> {
  const quote = { partner: 'supplier', operation: 'quote' } as const;
  const effect = { kind: 'hang-after' } as const;
  const last = { sku: lines.at(-1)?.sku ?? '' };
  const all = await partners.setFault({ ...quote, skip: NEVER, effect });
  const ofLast = await partners.setFault({ ...quote, ...last, skip: NEVER, effect });
  const held = await partners.setFault({ ...quote, ...last, times: 1, effect });
  const seen = async () => {
    const faults = await partners.faults();
    return [all, ofLast].map((id) => faults.find(({ faultId }) => faultId === id)?.seen ?? 0);
  };
  return {
    async untilLastIsHeld() {
      await partners.waitUntilHeld({ faultId: held }, 60_000);
      await until('all prices asked for', async () => {
        const [asked = 0] = await seen();
        return asked >= lines.length ? true : undefined;
      });
    },
    async knownAskedAgain() {
      const [asked = 0, askedLast = 0] = await seen();
      return asked - askedLast - (lines.length - 1);
    },
  };
}

export function judgePrices(again: number, known: number): Outcome {
  if (again === 0) return { verdict: 'held', counted: {} };
  const how = again >= known ? 'asked every price again' : `asked ${again} prices again`;
  return { verdict: 'broke', how, counted: {} };
}
