import type { Pool } from 'pg';
import type { DecideResult, Decision } from '../../core/contract.ts';
import { judgeDecision } from '../../core/decisions.ts';
import type { GateState, OpenedGate } from '../../core/decisions.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { isBefore } from '../../core/steps.ts';
import type { Outcome, Step } from '../../core/steps.ts';
import { withTransaction } from '../database.ts';
import { appendHistory } from '../runs/history.ts';
import { deliver } from '../runs/inbox.ts';
import type { Transport } from '../transport/contract.ts';
import { APPROVAL } from './approval.ts';
import { readGates } from './read-gates.ts';
import type { GateRow } from './read-gates.ts';

/**
 * Answers a gate: compare-and-set on its name and version, under the run's row lock, so that of two
 * answers at the same moment one is taken. Every other answer is a conflict with an entry in the
 * history; none is lost in silence.
 */
export async function decide(
  pool: Pool,
  transport: Transport,
  id: OrderId,
  answer: Decision,
): Promise<DecideResult> {
  const runId = businessKey(id);
  return withTransaction(pool, async (tx) => {
    const { rows } = await tx.query<RunRow>(
      'SELECT version, step, outcome FROM queue.run WHERE id = $1 FOR NO KEY UPDATE',
      [runId],
    );
    const [run] = rows;
    if (!run) return { kind: 'not-found' };
    const gates = await readGates(tx, runId);
    // The lock may have taken a while: what counts is the time under it.
    const judged = judgeDecision(stateOf(run, gates), answer, (await clock(tx)).getTime());
    const { gate, gateVersion, decision, by, note } = answer;
    if (judged.kind === 'conflict') {
      const { conflict, reason } = judged;
      await appendHistory(tx, runId, [
        { type: 'decision-conflict', gate, gateVersion, decision, by, conflict },
      ]);
      return { kind: 'conflict', conflict, reason };
    }
    if (judged.repeated) return { kind: 'accepted' };
    await tx.query(
      `UPDATE queue.gate SET state = 'answered', decision = $4, decided_by = $5,
         decided_at = statement_timestamp()
       WHERE run_id = $1 AND gate = $2 AND gate_version = $3 AND state = 'open'`,
      [runId, gate, gateVersion, decision, by],
    );
    await tx.query(
      `DELETE FROM queue.timer WHERE run_id = $1 AND starts_with(name, $2) AND fired_at IS NULL`,
      [runId, `${gate}/v${gateVersion}/`],
    );
    await appendHistory(tx, runId, [
      {
        type: 'decided',
        gate,
        gateVersion,
        decision,
        by,
        ...(note === undefined ? {} : { note }),
      },
    ]);
    await deliver(tx, transport, runId, { kind: 'answered', gate, gateVersion });
    return { kind: 'accepted' };
  });
}

async function clock(tx: { query: Pool['query'] }): Promise<Date> {
  const { rows } = await tx.query<{ now: Date }>('SELECT statement_timestamp() AS now');
  return rows[0]?.now ?? new Date();
}

interface RunRow {
  version: string;
  step: Step;
  outcome: Outcome | null;
}

function stateOf(run: RunRow, gates: GateRow[]): GateState {
  const mayAsk = !isBefore(run.version, 'approve', run.step);
  return {
    upcoming: mayAsk ? [APPROVAL] : [],
    opened: gates.map(openedGate),
    ...(run.outcome === null ? {} : { outcome: run.outcome }),
  };
}

function openedGate({ gate, gateVersion, until, state, decision, decidedBy }: GateRow): OpenedGate {
  const opened = { gate, gateVersion, deadlineAt: until.getTime() };
  if (state !== 'answered') return { ...opened, state: { kind: state } };
  if (!decision) throw new Error(`${gate} v${gateVersion} was answered without a decision`);
  return { ...opened, state: { kind: 'answered', decision, by: decidedBy ?? 'somebody' } };
}
