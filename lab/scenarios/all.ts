import type { Scenario } from '../scenario.ts';
import { burst } from './burst.ts';
import { killWorker } from './kill-worker.ts';
import { producerDies } from './producer-dies.ts';
import { wakeOnThursday } from './wake-on-thursday.ts';

/** In the order in which the table shows them. */
export const scenarios: readonly Scenario[] = [killWorker, producerDies, wakeOnThursday];
