import type { AgentInput } from '../../core/agent/input.ts';
import type { RunInput } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Policy } from '../../core/policy.ts';
import type { Db } from '../transport/contract.ts';
import { kindOfRun } from './run.ts';

/** What a run of the agent goes by. There is no second revision: a request that was wrong is asked anew. */
export type AgentRunInput = AgentInput & { revision: 1 };

/** The input of a run of either kind. The engine itself uses policy and revision of it. */
export type AnyInput = RunInput | AgentRunInput;

export function isAgentInput(input: AnyInput): input is AgentRunInput {
  return 'request' in input;
}

/** The input of a run of either kind. Throws when there is none. */
export function loadInputOf(db: Db, runId: string, revision: number): Promise<AnyInput> {
  return kindOfRun(runId) === 'agent' ? loadAgentInput(db, runId) : loadInput(db, runId, revision);
}

async function loadAgentInput(db: Db, runId: string): Promise<AgentRunInput> {
  const { rows } = await db.query<{ input: AgentInput }>({
    name: 'agent-input-load',
    text: 'SELECT input FROM queue.agent_input WHERE run_id = $1',
    values: [runId],
  });
  const [row] = rows;
  if (!row) throw new Error(`${runId} has no input`);
  return { ...row.input, revision: 1 };
}

/** The input of an order's run at a business revision. Throws when there is none: every revision is written before it begins. */
export async function loadInput(db: Db, runId: string, revision: number): Promise<RunInput> {
  const { rows } = await db.query<{ order_content: Order; policy: Policy; charge_at: Date | null }>(
    {
      name: 'run-input-load',
      text: `
      SELECT order_content, policy, charge_at FROM queue.run_input
      WHERE run_id = $1 AND revision = $2`,
      values: [runId, revision],
    },
  );
  const [row] = rows;
  if (!row) throw new Error(`${runId} has no input of revision ${revision}`);
  const input: RunInput = { order: row.order_content, policy: row.policy, revision };
  return row.charge_at ? { ...input, chargeAt: row.charge_at.toISOString() } : input;
}

/** Stores the input of a revision, apart from the run's hot row. */
export async function storeInput(db: Db, runId: string, input: RunInput): Promise<void> {
  await db.query({
    name: 'run-input-store',
    text: `
      INSERT INTO queue.run_input (run_id, revision, order_content, policy, charge_at)
      VALUES ($1, $2, $3, $4, $5)`,
    values: [
      runId,
      input.revision,
      JSON.stringify(input.order),
      JSON.stringify(input.policy),
      input.chargeAt ?? null,
    ],
  });
}
