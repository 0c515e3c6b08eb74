import type { Pool } from 'pg';
import type { AgentFilter, AgentListResult, AgentSummary } from '../../core/agent/contract.ts';
import type { AgentOutcome, AgentStep } from '../../core/steps.ts';
import { listRuns } from '../runs/list.ts';

/** Runs of the agent that match, newest first, at most `limit` (100 unless given). */
export async function list(pool: Pool, filter: AgentFilter = {}): Promise<AgentListResult> {
  const { requestRef: ref, ...rest } = filter;
  const runs: AgentSummary[] = await listRuns<AgentStep, AgentOutcome>(pool, 'agent', {
    ...rest,
    ...(ref !== undefined && { ref }),
  });
  return { kind: 'runs', runs };
}
