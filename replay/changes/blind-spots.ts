import type { Change } from './change.ts';

/** A change that matters and that replay does not see: it compares what was asked for, by kind and name, no more. */
export interface BlindSpot extends Change {
  /** What guards against it instead. */
  guard: string;
}

const STEPS = 'workflows/steps.ts';

/** Each passes the gate; a test says so, so that this list is true. */
export const blindSpots: readonly BlindSpot[] = [
  {
    name: 'other arguments of an activity',
    edits: [
      {
        file: 'workflows/activities.ts',
        from: 'return { id: run.id, revision, again, limits: limitsOf(policy) };',
        to: 'return { id: run.id, revision: revision + 1, again, limits: limitsOf(policy) };',
      },
    ],
    guard:
      'effects counted by the partners (test/parity, the lab), and the inputs in the diff of histories recorded anew',
  },
  {
    name: 'two activities of the same type in another order',
    edits: [
      {
        file: 'workflows/price.ts',
        from: '  await eachOf(lines, ',
        to: '  await eachOf(lines.toReversed(), ',
      },
    ],
    guard:
      'review only: a run in flight gives each call the result of the one that had its place, so take a patch or another activity type',
  },
  {
    name: 'other time limits and retries',
    edits: [
      {
        file: 'workflows/activities.ts',
        from: 'startToCloseTimeout: policy.attemptTimeoutMs,',
        to: 'startToCloseTimeout: 1,',
      },
      {
        file: 'workflows/activities.ts',
        from: 'maximumAttempts: policy.maxAttempts,',
        to: 'maximumAttempts: 1,',
      },
    ],
    guard:
      'limits come from the policy in the run’s input, so that runs keep theirs; the lab’s outages',
  },
  {
    name: 'a timer of another length',
    edits: [{ file: STEPS, from: '  await sleep(wait);\n', to: '  await sleep(wait * 2);\n' }],
    guard: 'tests that move the clock of a run (test/parity, lab wake-on-thursday)',
  },
  {
    name: 'other values shown',
    edits: [
      {
        file: 'workflows/search-attributes.ts',
        from: '{ key: orderOutcomeKey, value: outcome ?? null }',
        to: "{ key: orderOutcomeKey, value: outcome === undefined ? null : 'completed' }",
      },
    ],
    guard: 'tests of where and list',
  },
  {
    name: 'another result of the run',
    edits: [
      {
        file: 'workflows/carry-out.ts',
        from: '  return result;\n',
        to: "  return { ...result, outcome: 'completed' };\n",
      },
    ],
    guard: 'tests of every outcome (test/parity)',
  },
  {
    name: 'deprecatePatch while runs from before the patch are open, with the same commands',
    edits: [
      {
        file: STEPS,
        from: "import { CancellationScope, sleep } from '@temporalio/workflow';\n",
        to: "import { CancellationScope, deprecatePatch, sleep } from '@temporalio/workflow';\n",
      },
      {
        file: STEPS,
        from: '  await untilDue(run, run.input.chargeAt);\n',
        to: "  deprecatePatch('wait');\n  await untilDue(run, run.input.chargeAt);\n",
      },
    ],
    guard: '`npm run replay -- --can-remove PATCH`, which counts the open runs without the patch',
  },
];
