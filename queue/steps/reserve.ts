import { businessKey, effectKey } from '../../core/identity.ts';
import type { StepCode, UndoCode } from './step.ts';

/** Reserves the goods. The warehouse keeps keys for good, so a request sent twice is one reservation. */
export const reserve: StepCode = async ({ id, run, input, partners, perform }) => {
  const key = effectKey(id, { revision: run.revision, step: 'reserve' });
  const lines = input.order.lines.map(({ sku, quantity }) => ({ sku, quantity }));
  const performed = await perform({
    effectKey: key,
    step: 'reserve',
    partner: 'warehouse',
    settles: false,
    act: (call) => partners.warehouse.reserve({ key, reference: businessKey(id), lines }, call),
  });
  return { kind: 'done', detail: performed.outcome.reservationId, performed };
};

/** Undoes `reserve`. Whether a reservation may still land was settled before. */
export const release: UndoCode = async ({ id, run, partners, perform }) => {
  const { revision } = run;
  const key = effectKey(id, { revision, step: 'release' });
  const reservationKey = effectKey(id, { revision, step: 'reserve' });
  const performed = await perform({
    effectKey: key,
    step: 'release',
    partner: 'warehouse',
    settles: false,
    act: (call) =>
      partners.warehouse.release({ key, reference: businessKey(id), reservationKey }, call),
  });
  return { happened: performed.outcome.released, performed };
};
