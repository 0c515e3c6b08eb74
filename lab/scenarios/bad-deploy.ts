import { sharedKey } from '../guards/effect-key.ts';
import type { Scenario } from '../scenario.ts';
import { chainReadsOtherWords } from './bad-deploy/chain.ts';
import { queueWithoutItsVersion } from './bad-deploy/queue.ts';
import { temporalStalls } from './bad-deploy/temporal.ts';

export const badDeploy: Scenario = {
  name: 'bad-deploy',
  claim:
    'a deploy that orders under way can’t take stops them where everybody sees it, and has ways back',
  about: 'a run holds a position in a program, so it holds one in a version of that program',
  fault:
    'Temporal: a change of the steps is shipped without its patch, while orders are under way and others ' +
    'begin on it. Queue: the workers that come have only the newer version, and after the rollback only ' +
    'the older. Chain: the code that comes calls the amount in the body by another name, and is rolled back',
  counts:
    'orders that stand still and are found, by list and by where; whether they go on when the workers are ' +
    'rolled back, the patch is shipped, the run is reset; every effect, those twice that a reset does again',
  code: {
    chain: ['queue/chain/steps.ts'],
    queue: ['queue/versions/unserved.ts', 'queue/steps/pipelines.ts'],
    temporal: [
      'client/pipelines/temporal/stall.ts',
      'client/pipelines/temporal/reset.ts',
      'workflows/purchase-order.ts',
      'replay/stages/removed/index.ts',
    ],
  },
  expected: {
    chain: { verdict: 'broke', how: 'never charged' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  controls: [{ on: 'temporal', without: sharedKey, breaks: 'charged twice' }],
  limitMs: { small: 180_000 },
  seconds: 25,
  run(stage) {
    switch (stage.implementation) {
      case 'chain':
        return chainReadsOtherWords(stage);
      case 'queue':
        return queueWithoutItsVersion(stage);
      case 'temporal':
        return temporalStalls(stage);
      default:
        return stage.implementation satisfies never;
    }
  },
};
