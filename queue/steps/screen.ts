import { screeningVerdict } from '../../core/decisions.ts';
import { businessKey, effectKey } from '../../core/identity.ts';
import type { StepCode } from './step.ts';

/** Looks the buyer up on the sanctions lists. Each screening costs money; the bureau keeps keys for good. */
export const screen: StepCode = async ({ id, run, input, partners, perform }) => {
  const key = effectKey(id, { revision: run.revision, step: 'screen' });
  const { buyer } = input.order;
  const asked = { key, reference: businessKey(id), buyerId: id.buyerId, name: buyer.name };
  const performed = await perform({
    effectKey: key,
    step: 'screen',
    partner: 'bureau',
    settles: false,
    act: (call) => partners.bureau.screen(asked, call),
  });
  const verdict = screeningVerdict(performed.outcome.listed);
  if (verdict.kind === 'refused') {
    return { kind: 'end', outcome: 'refused', reason: verdict.reason, performed };
  }
  return { kind: 'done', detail: 'on no list', performed };
};
