import { creditVerdict } from '../../core/decisions.ts';
import { businessKey, effectKey } from '../../core/identity.ts';
import { payableOf } from './payable.ts';
import type { StepCode } from './step.ts';

/** Asks the bureau about the buyer. Each enquiry costs money; the bureau keeps keys for good. */
export const credit: StepCode = async ({ id, run, input, partners, perform }) => {
  const amount = payableOf(run);
  const key = effectKey(id, { revision: run.revision, step: 'credit' });
  const reference = businessKey(id);
  const performed = await perform({
    effectKey: key,
    step: 'credit',
    partner: 'bureau',
    settles: false,
    act: (call) => partners.bureau.enquire({ key, reference, buyerId: id.buyerId, amount }, call),
  });
  const { score } = performed.outcome;
  const verdict = creditVerdict(score, input.policy);
  if (verdict.kind === 'refused') {
    return { kind: 'end', outcome: 'refused', reason: verdict.reason, performed };
  }
  return { kind: 'done', detail: `score ${score}`, found: { score }, performed };
};
