import { businessKey, effectKey } from '../core/identity.ts';
import type { Bureau } from '../partners/contract.ts';
import { attempt } from './attempt.ts';
import type { StepCall } from './attempt.ts';

export interface ScreenInput extends StepCall {
  /** The buyer's name. */
  name: string;
}

export function screenActivities(bureau: Bureau) {
  return {
    /** The sanctions list that names the buyer, or null. Each screening costs money; the bureau keeps keys for good. */
    screen: (input: ScreenInput): Promise<string | null> =>
      attempt(input, async ({ effect }) => {
        const { id, revision, name } = input;
        const key = effectKey(id, { revision, step: 'screen' });
        const screened = { key, reference: businessKey(id), buyerId: id.buyerId, name };
        return (await bureau.screen(screened, effect())).listed;
      }),
  };
}
