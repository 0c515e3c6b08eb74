import { askBeforeAct, ledger } from '../guards/ledger.ts';
import type { Scenario } from '../scenario.ts';
import { loseTheAnswer } from './ambiguous-charge/lost-answer.ts';

export const ambiguousPlace: Scenario = {
  name: 'ambiguous-place',
  claim: 'an order at a supplier who takes no keys is placed once, although the answer was lost',
  about:
    'where no key makes a repetition harmless, a durable place must say that one may be under way',
  fault: 'the supplier places the order and closes the connection without an answer',
  counts: 'orders the supplier has; how often it was asked to place one',
  code: {
    chain: ['queue/chain/steps.ts'],
    queue: ['queue/ledger/effect.ts', 'queue/ledger/records.ts', 'queue/steps/place.ts'],
    temporal: ['activities/attempt.ts', 'activities/place.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'placed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: (stage) => loseTheAnswer(stage, { partner: 'supplier', operation: 'place' }),
  controls: [
    { on: 'queue', without: ledger, breaks: 'placed twice' },
    { on: 'temporal', without: askBeforeAct, breaks: 'placed twice' },
  ],
};
