import type { Partners } from '../../../partners/contract.ts';
import { effectKey } from '../../../core/identity.ts';
import type { Order } from '../../../core/order/schema.ts';
import { CURRENT_VERSION } from '../../../core/steps.ts';
import { pipelinesOf } from '../../../queue/steps/pipelines.ts';
import type { StepCode, UndoCode } from '../../../queue/steps/step.ts';
import { credit, price, reserve } from './steps.ts';

/** A step of the hand-built system that this pipeline has no use for. */
const pass: StepCode = () => Promise.resolve({ kind: 'done' });
const nothing: UndoCode = () => Promise.resolve({ happened: false });

function effect(
  step: 'credit' | 'reserve',
  partner: 'bureau' | 'warehouse',
  act: (partners: Partners, order: Order) => Promise<void>,
): StepCode {
  return async ({ id, run, input, partners, perform }) => {
    const performed = await perform({
      effectKey: effectKey(id, { revision: run.revision, step }),
      step,
      partner,
      settles: false,
      act: async () => {
        await act(partners, input.order);
        return {};
      },
    });
    return { kind: 'done', performed };
  };
}

/** The run with its row, lease, ledger and history, and three steps in it. */
export const pipelines = pipelinesOf(
  new Map([
    [
      CURRENT_VERSION,
      {
        steps: {
          validate: pass,
          price: async ({ input, partners, read }) => {
            await read(() => price(partners, input.order));
            return { kind: 'done' };
          },
          credit: effect('credit', 'bureau', credit),
          approve: pass,
          reserve: effect('reserve', 'warehouse', reserve),
          charge: pass,
          place: pass,
          invoice: pass,
          close: pass,
          screen: pass,
        },
        undos: { reserve: nothing, charge: nothing, place: nothing },
      },
    ],
  ]),
);
