import { joinIdentity } from '../guards/join-identity.ts';
import { askBeforeAct } from '../guards/ledger.ts';
import type { Scenario } from '../scenario.ts';
import { EARLY } from './duplicate-delivery/lines.ts';
import { duplicateMessages } from './duplicate-delivery/messages.ts';
import { duplicateTasks } from './duplicate-delivery/tasks.ts';

export const duplicateDelivery: Scenario = {
  name: 'duplicate-delivery',
  claim: 'work that is handed out twice, to two workers at the same moment, is done once',
  about:
    'delivery is at least once: a consumer that gets a message again must not act again, and a child ' +
    'that ends twice must not count twice in its join',
  fault:
    'two workers, and every message is in the queue twice: wake-ups, 24 lines (240 in full), mail; ' +
    'two lines stay out until all others have ended, some of them twice. On the chain the first message ' +
    'only: all of them twice would be 64 orders. Temporal has no message that could be doubled: there ' +
    'the start is sent twice, and tasks time out and are handed out again while the first worker still has them',
  counts: 'effects of the order, the amount charged, messages left behind',
  code: {
    chain: ['queue/chain/handle.ts'],
    queue: [
      'queue/runs/take.ts',
      'queue/joins/take-child.ts',
      'queue/joins/finish-child.ts',
      'queue/transport/ack.ts',
    ],
    temporal: [
      'client/pipelines/temporal/submit.ts',
      'workflows/activities.ts',
      'activities/attempt.ts',
    ],
  },
  expected: {
    chain: { verdict: 'broke', how: 'placed twice, mailed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 180_000 },
  seconds: 20,
  run: (stage) =>
    stage.implementation === 'temporal' ? duplicateTasks(stage) : duplicateMessages(stage),
  controls: [
    { on: 'queue', without: joinIdentity, breaks: EARLY },
    { on: 'temporal', without: askBeforeAct, breaks: 'placed twice' },
  ],
};
