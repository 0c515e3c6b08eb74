import type { ClientBase, Pool } from 'pg';
import { agentRunIdOf, requestIdOf } from '../../core/agent/identity.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { initialState } from '../../core/agent/state.ts';
import { takeUp, versionFor } from '../../core/agent/take-up.ts';
import type { SubmitResult } from '../../core/contract.ts';
import type { AgentOutcome, AgentStep } from '../../core/steps.ts';
import { withTransaction } from '../database.ts';
import { appendHistory } from '../runs/history.ts';
import { wake } from '../runs/inbox.ts';
import { compare, contentHashOf, readThere } from '../runs/submit.ts';
import type { RunState } from '../runs/run.ts';
import type { Transport } from '../transport/contract.ts';
import { agentVersionOf, nameOfAgentVersion } from '../versions/names.ts';
import { bucketOf, readRollout } from '../versions/rollout.ts';

const FIRST: AgentStep = 'think';

/**
 * Starts a run of the agent, once for each request: the row, its input, its history and the wake-up in
 * one transaction. It begins in the version that the agent's rollout says. Throws RangeError when
 * whoever asks knows none of those.
 */
export function ask(
  pool: Pool,
  transport: Transport,
  asked: AgentAsk,
): Promise<SubmitResult<AgentOutcome>> {
  const id = requestIdOf(asked.request);
  const runId = agentRunIdOf(id);
  const contentHash = contentHashOf(asked.request);
  return withTransaction(pool, async (tx) => {
    const version = versionFor(asked, await candidates(tx, runId));
    const input = takeUp(asked, version);
    const state: RunState = { agent: initialState() };
    const { rowCount } = await tx.query(
      `INSERT INTO queue.run
         (id, kind, buyer_id, order_ref, content_hash, version, step, status, state)
       VALUES ($1, 'agent', $2, $3, $4, $5, $6, 'running', $7)
       ON CONFLICT (id) DO NOTHING`,
      [
        runId,
        id.buyerId,
        id.orderRef,
        contentHash,
        nameOfAgentVersion(version),
        FIRST,
        JSON.stringify(state),
      ],
    );
    if (!rowCount) {
      return compare(id, contentHash, await readThere<AgentOutcome>(tx, runId), 'request');
    }
    await tx.query('INSERT INTO queue.agent_input (run_id, input) VALUES ($1, $2)', [
      runId,
      JSON.stringify(input),
    ]);
    await appendHistory(tx, runId, [{ type: 'started', revision: 1 }]);
    await wake(tx, transport, runId);
    return { kind: 'started', id };
  });
}

/** The versions that a new run may begin in, best first. */
async function candidates(tx: ClientBase, runId: string): Promise<string[]> {
  const { current, ramping } = await readRollout(tx, 'agent');
  if (!ramping) return [agentVersionOf(current)];
  const onRamp = bucketOf(runId) < ramping.percent;
  const both = onRamp ? [ramping.version, current] : [current, ramping.version];
  return both.map(agentVersionOf);
}
