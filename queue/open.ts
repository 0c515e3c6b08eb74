import type { Cannot, Pipeline } from '../core/contract.ts';
import { businessKey } from '../core/identity.ts';
import { defaultPolicy } from '../core/policy.ts';
import { connectClient } from './connect.ts';
import type { QueueTarget } from './connect.ts';
import { lookAtDeadLetters } from './dead-letters/list.ts';
import { discard, fix, replay } from './dead-letters/operate.ts';
import { decide } from './gates/decide.ts';
import { cancel } from './runs/cancel.ts';
import { list } from './runs/list.ts';
import { submit } from './runs/submit.ts';
import { where } from './runs/where.ts';
import { listVersions } from './versions/list-versions.ts';
import { move } from './versions/move.ts';
import { ramp, setCurrent } from './versions/rollout.ts';

const NO_RESET: Cannot = {
  kind: 'cannot',
  reason:
    'a run has no history that code must follow: its cursor is its position, and what is done stays done; ' +
    'a run that nobody serves goes on when a worker has its version',
};

/**
 * Opens the hand-built implementation. Brings the database up to date first; needs no live worker.
 * Throws what `pg` throws when the database can't be reached.
 */
export async function openQueue(target: QueueTarget): Promise<Pipeline> {
  const { pool, transport, close } = await connectClient(target, 'q2t-client');
  const operators = { pool, transport };
  return {
    implementation: 'queue',
    submit: (order, policy = defaultPolicy) => submit(pool, transport, order, policy),
    where: (id) => where(pool, id),
    decide: (id, decision) => decide(pool, transport, id, decision),
    cancel: (id, by, reason) => cancel(pool, transport, businessKey(id), { by, reason }),
    list: (filter) => list(pool, filter),
    reset: () => Promise.resolve(NO_RESET),
    deadLetters: {
      list: () => lookAtDeadLetters(pool, 'order', target.user),
      replay: (id, action) => replay(operators, businessKey(id), action),
      discard: (id, action) => discard(operators, businessKey(id), action),
      fix: (id, action) => fix(operators, businessKey(id), action),
    },
    versions: {
      list: () => listVersions(pool),
      setCurrent: (version, by) => setCurrent(pool, version, by),
      ramp: (version, percent, by) => ramp(pool, version, percent, by),
      move: (id, version, by) => move(pool, id, version, by),
    },
    close,
  };
}

export { openQueueAgent } from './agent/open.ts';
export { openChain } from './chain/open.ts';
