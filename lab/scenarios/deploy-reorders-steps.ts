import { patch, versionOfTheRun } from '../guards/versions.ts';
import type { Scenario } from '../scenario.ts';
import { chainThroughDeploy } from './deploy-reorders-steps/chain.ts';
import { runsThroughDeploy, stallsAfterDeploy } from './deploy-reorders-steps/runs.ts';

export const deployReordersSteps: Scenario = {
  name: 'deploy-reorders-steps',
  claim: 'orders under way when the order of steps changes keep the order they began with',
  about:
    'a position is a place in a program, so it is one in a version of that program; a message only ' +
    'names the next step, and means whatever the code that receives it makes of that',
  fault:
    'while orders wait and retry, the deploy that adds the screening and moves reserve before approve: ' +
    'the old worker goes, the new one comes, new orders follow. The chain has one at the worst place, ' +
    'between credit and approve, and then both remedies: a version in the body, and draining first',
  counts: 'which effects each order had, those from before the deploy and those from after',
  code: {
    chain: ['queue/chain/steps.ts', 'lab/guards/versions.ts'],
    queue: ['queue/steps/pipelines.ts', 'core/steps.ts', 'queue/versions/rollout.ts'],
    temporal: ['workflows/purchase-order.ts', 'replay/stages/before/index.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'never screened, never reserved' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  controls: [
    { on: 'queue', without: versionOfTheRun, breaks: 'never reserved' },
    { on: 'temporal', without: patch, breaks: 'stalls', run: stallsAfterDeploy },
  ],
  run: (stage) =>
    stage.implementation === 'chain' ? chainThroughDeploy(stage) : runsThroughDeploy(stage),
  limitMs: { small: 180_000 },
  seconds: 25,
};
