import type { Mode } from './contender.ts';
import type { CellSize } from './measure.ts';

export interface Plan {
  modes: Mode[];
  /** Modes measured once more while another connection holds an old snapshot. */
  oldSnapshotModes: Mode[];
  rounds: number;
  unbatchedJobs: number;
  batchedJobs: number;
  wakeJobs: number;
  wakePerSecond: number;
  notifyProducers: number;
  notifySends: number;
}

const BATCH = 50;

export const fullPlan: Plan = {
  modes: [1, BATCH].flatMap((batch) => [1, 4, 8, 32].map((workers) => ({ workers, batch }))),
  oldSnapshotModes: [
    { workers: 8, batch: 1 },
    { workers: 8, batch: BATCH },
  ],
  rounds: 3,
  unbatchedJobs: 2_000,
  batchedJobs: 20_000,
  wakeJobs: 100,
  wakePerSecond: 25,
  notifyProducers: 64,
  notifySends: 6_400,
};

export const quickPlan: Plan = {
  ...fullPlan,
  modes: [
    { workers: 1, batch: 1 },
    { workers: 8, batch: 1 },
    { workers: 8, batch: BATCH },
  ],
  oldSnapshotModes: [{ workers: 8, batch: BATCH }],
  rounds: 1,
  unbatchedJobs: 500,
  batchedJobs: 5_000,
  wakeJobs: 25,
  notifySends: 1_280,
};

export function sizeOf(plan: Plan, { batch }: Mode): CellSize {
  return {
    jobs: batch === 1 ? plan.unbatchedJobs : plan.batchedJobs,
    wakeJobs: plan.wakeJobs,
    wakePerSecond: plan.wakePerSecond,
  };
}
