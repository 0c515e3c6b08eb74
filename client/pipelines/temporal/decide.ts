import type { Client } from '@temporalio/client';
import type { DecideResult, Decision, RunPosition } from '../../../core/contract.ts';
import { judgeDecision } from '../../../core/decisions.ts';
import type { GateAnswer } from '../../../core/decisions.ts';
import type { UpdateDefinition } from '@temporalio/common';
import { runIdOf } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import { decideUpdate } from '../../../workflows/definitions.ts';
import { confirm, digest } from './confirm.ts';
import { describeWorkflow, isRunning, memoPosition } from './description.ts';

/** Answers an order's question. */
export function decide(
  client: Client,
  withinMs: number,
  id: OrderId,
  decision: Decision,
): Promise<DecideResult> {
  const said = { answer: decision, argument: decision };
  return answerGate(client, withinMs, runIdOf(id), decideUpdate, said);
}

/**
 * Answers a run's question through its update. Looked up first, since an update to a closed run and to
 * none fail alike.
 */
export async function answerGate<A>(
  client: Client,
  withinMs: number,
  workflowId: string,
  update: UpdateDefinition<DecideResult, [A]>,
  { answer, argument }: { answer: GateAnswer; argument: A },
): Promise<DecideResult> {
  const run = await describeWorkflow(client, workflowId);
  if (!run) return { kind: 'not-found' };
  const position = memoPosition<RunPosition>(run);
  if (!isRunning(run)) return tooLate(position, answer);
  const sent = { argument, updateId: updateIdOf(position, answer) };
  const confirmed = await confirm(client, withinMs, workflowId, update, sent);
  switch (confirmed.kind) {
    case 'answer':
      return confirmed.answer;
    case 'not-confirmed':
      return confirmed;
    case 'ended':
      return tooLate(position, answer);
    default:
      return confirmed satisfies never;
  }
}

/** A closed run takes no entry any more, so this one answer leaves no trace in the run: the engine's limit. */
function tooLate({ outcome }: RunPosition, answer: GateAnswer): DecideResult {
  const judged =
    outcome === undefined
      ? undefined
      : judgeDecision({ upcoming: [], opened: [], outcome }, answer, Date.now());
  if (judged?.kind === 'conflict') return judged;
  return { kind: 'conflict', conflict: 'ended', reason: 'the run has ended' };
}

/**
 * The same answer has the same id, so that repeating it after "not confirmed" counts once. To a gate that
 * is not open, it also carries where the run was: an answer that came too early must not be what a
 * later one, to the open gate, is answered with.
 */
function updateIdOf({ waitingFor, step, since }: RunPosition, said: GateAnswer): string {
  const { gate, gateVersion, decision, by } = said;
  // Words may be long.
  const short = decision.length > 20 ? digest(decision) : decision;
  const answer = [gate, gateVersion, short, digest(by)].join('/');
  const open =
    waitingFor?.kind === 'person' &&
    waitingFor.gate === gate &&
    waitingFor.gateVersion === gateVersion;
  return open ? answer : `${answer}/at-${step}-${since}`;
}
