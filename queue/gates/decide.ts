import type { ClientBase, Pool } from 'pg';
import type { DecideResult, Decision } from '../../core/contract.ts';
import { judgeDecision } from '../../core/decisions.ts';
import type { GateAnswer, GateState, Judgement, OpenedGate } from '../../core/decisions.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { isBefore } from '../../core/steps.ts';
import type { AgentOutcome, AnyStep } from '../../core/steps.ts';
import { withTransaction } from '../database.ts';
import { appendHistory } from '../runs/history.ts';
import { deliver } from '../runs/inbox.ts';
import { orderStep } from '../runs/run.ts';
import type { Transport } from '../transport/contract.ts';
import { readGates } from './read-gates.ts';
import type { GateRow } from './read-gates.ts';

/** Answers an order's gate. */
export function decide(
  pool: Pool,
  transport: Transport,
  id: OrderId,
  answer: Decision,
): Promise<DecideResult> {
  return answerGate(pool, transport, businessKey(id), answer, {
    upcoming: ({ version, step }) =>
      isBefore(version, 'approve', orderStep(step)) ? [] : ['approval'],
    judge: (state, now) => judgeDecision(state, answer, now),
  });
}

export interface Judging {
  /** The gates that the run may still open. */
  upcoming: (run: { version: string; step: AnyStep }) => readonly string[];
  judge: (state: GateState, now: number) => Judgement;
}

/**
 * Answers a gate: compare-and-set on its name and version, under the run's row lock, so that of two
 * answers at the same moment one is taken. Every other answer is a conflict with an entry in the
 * history; none is lost in silence.
 */
export async function answerGate(
  pool: Pool,
  transport: Transport,
  runId: string,
  answer: GateAnswer & { note?: string },
  { upcoming, judge }: Judging,
): Promise<DecideResult> {
  return withTransaction(pool, async (tx) => {
    const { rows } = await tx.query<RunRow>(
      'SELECT version, step, outcome FROM queue.run WHERE id = $1 FOR NO KEY UPDATE',
      [runId],
    );
    const [run] = rows;
    if (!run) return { kind: 'not-found' };
    const gates = await readGates(tx, runId);
    // The lock may have taken a while: what counts is the time under it.
    const judged = judge(stateOf(run, gates, upcoming(run)), (await clock(tx)).getTime());
    const { gate, gateVersion, decision, by, note } = answer;
    if (judged.kind === 'conflict') {
      const { conflict, reason } = judged;
      await appendHistory(tx, runId, [
        { type: 'decision-conflict', gate, gateVersion, decision, by, conflict },
      ]);
      return { kind: 'conflict', conflict, reason };
    }
    if (judged.repeated) return { kind: 'accepted' };
    await writeAnswer(tx, runId, answer);
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

async function writeAnswer(
  tx: ClientBase,
  runId: string,
  { gate, gateVersion, decision, by }: GateAnswer,
): Promise<void> {
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
}

async function clock(tx: { query: Pool['query'] }): Promise<Date> {
  const { rows } = await tx.query<{ now: Date }>('SELECT statement_timestamp() AS now');
  return rows[0]?.now ?? new Date();
}

interface RunRow {
  version: string;
  step: AnyStep;
  outcome: AgentOutcome | null;
}

function stateOf({ outcome }: RunRow, gates: GateRow[], upcoming: readonly string[]): GateState {
  return { upcoming, opened: gates.map(openedGate), ...(outcome === null ? {} : { outcome }) };
}

function openedGate({ gate, gateVersion, until, state, decision, decidedBy }: GateRow): OpenedGate {
  const opened = { gate, gateVersion, deadlineAt: until.getTime() };
  if (state !== 'answered') return { ...opened, state: { kind: state } };
  if (decision === null) throw new Error(`${gate} v${gateVersion} was answered without a decision`);
  return { ...opened, state: { kind: 'answered', decision, by: decidedBy ?? 'somebody' } };
}
