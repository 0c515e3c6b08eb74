import { businessKey, effectKey } from '../core/identity.ts';
import type { Warehouse } from '../partners/contract.ts';
import { attempt } from './attempt.ts';
import type { StepCall } from './attempt.ts';

export interface ReserveInput extends StepCall {
  lines: { sku: string; quantity: string }[];
}

export function reserveActivities(warehouse: Warehouse) {
  return {
    /** Reserves the goods and returns the reservation's id. The warehouse keeps keys for good. */
    reserve: (input: ReserveInput): Promise<string> =>
      attempt(input, async ({ effect }) => {
        const { id, revision, lines } = input;
        const key = effectKey(id, { revision, step: 'reserve' });
        return (await warehouse.reserve({ key, reference: businessKey(id), lines }, effect()))
          .reservationId;
      }),

    /** Undoes `reserve`; false when nothing was reserved. */
    release: (input: StepCall): Promise<boolean> =>
      attempt(input, async ({ effect, settle }) => {
        const { id, revision } = input;
        // A reservation that lands after its release would stay for ever.
        await settle();
        const key = effectKey(id, { revision, step: 'release' });
        const reservationKey = effectKey(id, { revision, step: 'reserve' });
        const reference = businessKey(id);
        return (await warehouse.release({ key, reference, reservationKey }, effect())).released;
      }),
  };
}
