import { together } from '../observe/together.ts';
import { seconds } from '../observe/words.ts';
import type { Scenario } from '../scenario.ts';
import { killInMidRequest } from './kill-worker/kill.ts';
import { recoveryAt } from './kill-worker/recovery.ts';

/** How long a worker may be silent before its work is given to another. */
const VISIBILITIES_MS = { small: [], full: [1_000, 5_000, 15_000] } as const;

export const killWorker: Scenario = {
  name: 'kill-worker',
  claim: 'a worker that dies in the middle of a step costs time, never a second effect',
  about: 'a queue delivers again what nobody acknowledged; what the dead worker did is not in it',
  fault:
    'SIGKILL while the supplier, who takes no keys, holds three orders: one not yet placed, one placed, ' +
    'one that is placed when the successor already works on it, within the settle time. ' +
    'In the end the first request lands too, after the settle time: nobody can stop that one',
  counts:
    'orders the supplier has of each, and every other effect; time from the kill to the end, ' +
    'which is mostly the time after which a silent worker counts as lost',
  code: {
    chain: ['queue/chain/steps.ts'],
    queue: ['queue/ledger/effect.ts', 'queue/ledger/records.ts', 'queue/steps/place.ts'],
    temporal: ['activities/attempt.ts', 'activities/place.ts', 'workflows/purchase-order.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'placed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 180_000 },
  seconds: 20,
  async run(stage) {
    const { outcomes, counted, recoveryMs, visibilityMs } = await killInMidRequest(stage);
    const measured: Record<string, string> = {
      recovery: seconds(recoveryMs),
      'silent for': seconds(visibilityMs),
    };
    for (const each of VISIBILITIES_MS[stage.size]) {
      measured[`recovery at ${seconds(each)}`] = seconds(await recoveryAt(stage, each));
    }
    return together(outcomes, counted, measured);
  },
};
