import { businessKey, effectKey } from '../../core/identity.ts';
import type { StepCode, UndoCode } from './step.ts';

/** Places the order at the supplier, who takes no keys: after an ambiguous failure only asking by our reference tells. */
export const place: StepCode = async ({ id, run, input, partners, perform }) => {
  const supplierReference = effectKey(id, { revision: run.revision, step: 'place' });
  const { supplierId } = input.order;
  const lines = input.order.lines.map(({ sku, quantity, unit }) => ({ sku, quantity, unit }));
  const performed = await perform({
    effectKey: supplierReference,
    step: 'place',
    partner: 'supplier',
    ask: async (call) => {
      const placed = await partners.supplier.find({ supplierId, supplierReference }, call);
      const open = placed.find(({ cancelled }) => !cancelled);
      return open && { supplierOrderId: open.supplierOrderId };
    },
    act: (call) => {
      const reference = businessKey(id);
      return partners.supplier.place({ supplierId, reference, supplierReference, lines }, call);
    },
  });
  return { kind: 'done', detail: performed.outcome.supplierOrderId, performed };
};

/** Undoes `place`: cancels every open order under our reference. */
export const cancel: UndoCode = async ({ id, run, input, partners, perform }) => {
  const { revision } = run;
  const supplierReference = effectKey(id, { revision, step: 'place' });
  const { supplierId } = input.order;
  const reference = businessKey(id);
  const performed = await perform({
    effectKey: effectKey(id, { revision, step: 'cancel' }),
    step: 'cancel',
    partner: 'supplier',
    settles: false,
    act: async (call) => {
      const placed = await partners.supplier.find({ supplierId, supplierReference }, call);
      const open = placed.filter(({ cancelled }) => !cancelled);
      for (const { supplierOrderId } of open) {
        await partners.supplier.cancel({ supplierId, supplierOrderId, reference }, call);
      }
      return { cancelled: open.map(({ supplierOrderId }) => supplierOrderId) };
    },
  });
  return { happened: performed.outcome.cancelled.length > 0, performed };
};
