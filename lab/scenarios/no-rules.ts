import { sharedKey } from '../guards/effect-key.ts';
import type { Scenario } from '../scenario.ts';
import { compareAll } from './no-rules/try.ts';
import { withoutTheKey } from './no-rules/without-the-key.ts';

export const noRules: Scenario = {
  name: 'no-rules',
  claim:
    'what one may write in the middle of a run is known, edit by edit: in a step nearly all of it, in a ' +
    'workflow what can be repeated',
  about:
    'inside a handler there are no rules, and that is an advantage of the queue; an engine that repeats ' +
    'code asks that it can be repeated, and a step owes its engine something as well',
  fault:
    'two dozen edits, each in a copy of the workflow and of the step, met by runs that are in flight and ' +
    'by new ones; answers of partners are lost, so that what is done again shows',
  counts:
    'how many edits came out how (docs/replay-rules.md); it holds when each is as that page says',
  code: {
    chain: ['queue/chain/steps.ts', 'replay/rules/rules.ts'],
    queue: ['queue/steps/step.ts', 'queue/ledger/effect.ts', 'replay/rules/rules.ts'],
    temporal: ['workflows/steps.ts', 'replay/gate/replay.ts', 'replay/rules/rules.ts'],
  },
  expected: {
    chain: { verdict: 'held' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: compareAll,
  // What a step owes, taken away: a key that all attempts share.
  controls: [
    { on: 'queue', without: sharedKey, breaks: 'charged twice', run: withoutTheKey },
    { on: 'chain', without: sharedKey, breaks: 'charged twice', run: withoutTheKey },
  ],
  limitMs: { small: 600_000 },
  seconds: 40,
};
