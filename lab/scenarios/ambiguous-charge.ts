import { sharedKey } from '../guards/effect-key.ts';
import type { Scenario } from '../scenario.ts';
import { loseTheAnswer } from './ambiguous-charge/lost-answer.ts';

export const ambiguousCharge: Scenario = {
  name: 'ambiguous-charge',
  claim: 'a charge whose answer was lost is not made twice: the key says that it is the same one',
  about:
    'an idempotency key comes from the event and not from the attempt, so a retry is recognised',
  fault: 'payments charge the card and close the connection without an answer',
  counts: 'charges the partner has; how often it was asked to charge',
  code: {
    chain: ['core/identity.ts', 'queue/chain/steps.ts'],
    queue: ['core/identity.ts', 'queue/steps/charge.ts', 'queue/ledger/effect.ts'],
    temporal: ['core/identity.ts', 'activities/charge.ts'],
  },
  expected: {
    // The one ambiguity that a chain survives by itself, for as long as the partner keeps keys.
    chain: { verdict: 'held' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: (stage) => loseTheAnswer(stage, { partner: 'payments', operation: 'charge' }),
  controls: (['chain', 'queue', 'temporal'] as const).map((on) => ({
    on,
    without: sharedKey,
    breaks: 'charged twice',
  })),
};
