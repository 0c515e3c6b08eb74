import type { Scenario } from '../scenario.ts';
import { killWorker } from './kill-worker.ts';

/** In the order in which the table shows them. */
export const scenarios: readonly Scenario[] = [killWorker];
