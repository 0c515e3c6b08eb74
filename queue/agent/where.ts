import type { Pool } from 'pg';
import type {
  AgentPosition,
  AgentWhereResult,
  TranscriptPlace,
  TranscriptResult,
} from '../../core/agent/contract.ts';
import { agentRunIdOf } from '../../core/agent/identity.ts';
import type { AgentInput } from '../../core/agent/input.ts';
import { budgetOf, shownOf } from '../../core/agent/shown.ts';
import type { AgentState } from '../../core/agent/state.ts';
import type { OrderId } from '../../core/identity.ts';
import type { AgentOutcome, AgentStep } from '../../core/steps.ts';
import { positionOf, readPosition } from '../runs/where.ts';
import { agentVersionOf } from '../versions/names.ts';

/** Where the agent's run is, read by key, as an order's. */
export async function where(pool: Pool, id: OrderId): Promise<AgentWhereResult> {
  const runId = agentRunIdOf(id);
  const row = await readPosition<AgentStep, AgentOutcome>(pool, runId);
  const limits = row && (await readLimits(pool, runId));
  if (!row || !limits) return { kind: 'not-found' };
  const { agent } = row.state;
  if (!agent) throw new Error(`${runId} has no state of the agent`);
  const open = row.status !== 'ended';
  const position: AgentPosition = {
    ...positionOf(id, row),
    version: agentVersionOf(row.version),
    ...shownOf(id, agent),
    budget: budgetOf(limits),
    ...(open && agent.question && { question: agent.question }),
  };
  return { kind: 'position', position };
}

async function readLimits(pool: Pool, runId: string): Promise<AgentInput['limits'] | undefined> {
  const { rows } = await pool.query<{ limits: AgentInput['limits'] }>(
    `SELECT input->'limits' AS limits FROM queue.agent_input WHERE run_id = $1`,
    [runId],
  );
  return rows[0]?.limits;
}

type PlaceRow = Pick<AgentState, 'notes'> & { id: string; head: AgentState['head'] | null };

/** Where a run's transcript is in the store. */
export async function transcript(pool: Pool, id: OrderId): Promise<TranscriptResult> {
  const { rows } = await pool.query<PlaceRow & { cut: boolean }>(
    `SELECT ${PLACE}, history_cut IS NOT NULL AS cut FROM queue.run WHERE id = $1`,
    [agentRunIdOf(id)],
  );
  const [row] = rows;
  if (!row) return { kind: 'not-found' };
  if (row.cut) return { kind: 'cannot', reason: 'it was deleted with the details of its run' };
  return { kind: 'position', position: placeOf(row) };
}

const PLACE = `id, state#>'{agent,head}' AS head, state#>'{agent,notes}' AS notes`;
const PAGE = 500;

/** Every place in the store that a run still needs. By key, since runs go on and begin meanwhile. */
export async function* places(pool: Pool): AsyncGenerator<TranscriptPlace> {
  let last = 'agent/';
  for (;;) {
    const { rows } = await pool.query<PlaceRow>(
      `SELECT ${PLACE} FROM queue.run
       WHERE id > $1 AND id < 'agent0' AND kind = 'agent' AND history_cut IS NULL
       ORDER BY id LIMIT $2`,
      [last, PAGE],
    );
    for (const row of rows) yield placeOf(row);
    const end = rows.at(-1);
    if (!end || rows.length < PAGE) return;
    last = end.id;
  }
}

function placeOf({ head, notes }: PlaceRow): TranscriptPlace {
  return head === null || head === undefined ? { notes } : { head, notes };
}
