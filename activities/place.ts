import { businessKey, effectKey } from '../core/identity.ts';
import type { Supplier } from '../partners/contract.ts';
import { attempt } from './attempt.ts';
import type { StepCall } from './attempt.ts';

export interface PlaceInput extends StepCall {
  supplierId: string;
  lines: { sku: string; quantity: string; unit: string }[];
}

export interface CancelInput extends StepCall {
  supplierId: string;
}

export function placeActivities(supplier: Supplier) {
  return {
    /**
     * Places the order at the supplier and returns the supplier's order id. The supplier takes no keys:
     * ask by our reference first, and when an earlier request may be on its way, wait until it has landed.
     */
    place: (input: PlaceInput): Promise<string> =>
      attempt(input, async ({ effect, read, settle }) => {
        const { id, revision, supplierId, lines } = input;
        const supplierReference = effectKey(id, { revision, step: 'place' });
        await settle();
        const placed = await supplier.find({ supplierId, supplierReference }, read);
        const open = placed.find((order) => !order.cancelled);
        if (open) return open.supplierOrderId;
        const order = { supplierId, reference: businessKey(id), supplierReference, lines };
        return (await supplier.place(order, effect())).supplierOrderId;
      }),

    /** Undoes `place`: cancels what is open under our reference. Returns how many orders there are, all of them
     * cancelled now: an attempt that finds its predecessor's work done has undone something too. */
    cancel: (input: CancelInput): Promise<number> =>
      attempt(input, async ({ effect, read, settle }) => {
        const { id, revision, supplierId } = input;
        const supplierReference = effectKey(id, { revision, step: 'place' });
        await settle();
        const placed = await supplier.find({ supplierId, supplierReference }, read);
        const open = placed.filter((order) => !order.cancelled);
        for (const { supplierOrderId } of open) {
          await supplier.cancel(
            { supplierId, supplierOrderId, reference: businessKey(id) },
            effect(),
          );
        }
        return placed.length;
      }),
  };
}
