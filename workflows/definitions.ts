import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AgentAnswer } from '../core/agent/contract.ts';
import type {
  DecideResult,
  Decision,
  OperatorAction,
  OperatorResult,
  Position,
} from '../core/contract.ts';
import type { Order } from '../core/order/schema.ts';

/** What the outside may say to an order's workflow, and to the agent's. Imported by the client as values, so nothing else lives here. */

/** Answers a pause. An answer that is early, late, second or for another gate is recorded and returned as a conflict. */
export const decideUpdate = defineUpdate<DecideResult, [Decision]>('decide');

/** Answers the agent's question, under the same rules. */
export const answerUpdate = defineUpdate<DecideResult, [AgentAnswer]>('answer');

export type OperatorCommand = OperatorAction &
  (
    | { action: 'replay' }
    | { action: 'discard' }
    /** `chargeAt` as in RunInput: time zones are resolved at the edge. */
    | { action: 'fix'; order: Order; chargeAt?: string }
  );

/** What an operator tells a stuck run. */
export const operateUpdate = defineUpdate<OperatorResult, [OperatorCommand]>('operate');

/** A signal and not an update: it must be durable also while no worker lives. */
export const cancelSignal = defineSignal<[{ by: string; reason: string }]>('cancel');

/** Detail that only a live worker can give; `where` never depends on it. */
export const positionQuery = defineQuery<Position>('position');
