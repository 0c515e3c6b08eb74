import type { Client } from '@temporalio/client';
import type { DecideResult, Decision, Position } from '../../../core/contract.ts';
import { judgeDecision } from '../../../core/decisions.ts';
import type { OrderId } from '../../../core/identity.ts';
import { decideUpdate } from '../../../workflows/definitions.ts';
import { confirm, digest } from './confirm.ts';
import { describeRun, isRunning } from './description.ts';
import { positionOf } from './where.ts';

/** Answers a run's question. Looked up first, since an update to a closed run and to none fail alike. */
export async function decide(
  client: Client,
  withinMs: number,
  id: OrderId,
  decision: Decision,
): Promise<DecideResult> {
  const run = await describeRun(client, id);
  if (!run) return { kind: 'not-found' };
  const position = positionOf(run);
  if (!isRunning(run)) return tooLate(position, decision);
  const sent = { argument: decision, updateId: updateIdOf(position, decision) };
  const confirmed = await confirm(client, withinMs, id, decideUpdate, sent);
  switch (confirmed.kind) {
    case 'answer':
      return confirmed.answer;
    case 'not-confirmed':
      return confirmed;
    case 'ended':
      return tooLate(position, decision);
    default:
      return confirmed satisfies never;
  }
}

/** A closed run takes no entry any more, so this one answer leaves no trace in the run: the engine's limit. */
function tooLate({ outcome }: Position, decision: Decision): DecideResult {
  const judged =
    outcome === undefined
      ? undefined
      : judgeDecision({ upcoming: [], opened: [], outcome }, decision, Date.now());
  if (judged?.kind === 'conflict') return judged;
  return { kind: 'conflict', conflict: 'ended', reason: 'the run has ended' };
}

/**
 * The same answer has the same id, so that repeating it after "not confirmed" counts once. To a gate that
 * is not open, it also carries where the run was: an answer that came too early must not be what a
 * later one, to the open gate, is answered with.
 */
function updateIdOf({ waitingFor, step, since }: Position, decision: Decision): string {
  const { gate, gateVersion, by } = decision;
  const answer = [gate, gateVersion, decision.decision, digest(by)].join('/');
  const open =
    waitingFor?.kind === 'person' &&
    waitingFor.gate === gate &&
    waitingFor.gateVersion === gateVersion;
  return open ? answer : `${answer}/at-${step}-${since}`;
}
