import type { Pool } from 'pg';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { stepsOf } from '../../core/steps.ts';
import { AUTO_UPGRADE } from '../../core/versions.ts';
import type { MoveResult } from '../../core/versions.ts';
import { withTransaction } from '../database.ts';
import { lockRun } from '../runs/lock-run.ts';
import { orderStep } from '../runs/run.ts';
import { pipelinesOf } from '../steps/pipelines.ts';
import { kindOfVersion } from './names.ts';
import { isServed, noteChange, unserved } from './rollout.ts';
import { whyNotMove } from './why-not.ts';
import type { Sequence } from './why-not.ts';

/**
 * An open run goes on with another version, where that changes nothing of what it has done: under its
 * row's lock, and never while a worker has it. The token goes up, since one that was taken for lost may
 * still walk in the old order.
 */
export async function move(
  pool: Pool,
  id: OrderId,
  version: string,
  by: string,
  pipelines = pipelinesOf(),
): Promise<MoveResult> {
  if (version === AUTO_UPGRADE) {
    const reason = 'a run goes from version to version only when somebody moves it there';
    return { kind: 'cannot', reason };
  }
  if (kindOfVersion(version) === 'agent') {
    const reason = `${version} is a version of the agent: an order goes on with another of the orders'`;
    return { kind: 'conflict', reason };
  }
  if (!pipelines.serves(version)) {
    const reason = `there is no version ${version} in this code; there are ${pipelines.versions.join(', ')}`;
    return { kind: 'not-found', reason };
  }
  const runId = businessKey(id);
  return withTransaction(pool, async (tx): Promise<MoveResult> => {
    const row = await lockRun(tx, runId);
    if (!row) return { kind: 'not-found', reason: 'there is no such order' };
    const { version: from, step, state } = row;
    const conflict = (reason: string) => ({ kind: 'conflict', reason }) as const;
    if (row.status === 'ended') return conflict('the run has ended');
    if (from === version) return conflict(`the run is on version ${version} already`);
    if (row.held) return conflict('a worker is at it now; repeat this in a moment');
    if (!pipelines.serves(from)) return conflict(`this code does not know version ${from}`);
    const sequence = (name: string): Sequence => {
      return { ...pipelines.of(name), version: name, order: stepsOf(name) };
    };
    const at = { step: orderStep(step), compensating: state.ending !== undefined };
    const why = whyNotMove(at, sequence(from), sequence(version));
    if (why !== undefined) return conflict(why);
    if (!(await isServed(tx, version))) return unserved(version);
    await tx.query('UPDATE queue.run SET version = $2, token = token + 1 WHERE id = $1', [
      runId,
      version,
    ]);
    await noteChange(tx, { by, action: 'move', version, runId, from });
    return { kind: 'moved', from, to: version };
  });
}
