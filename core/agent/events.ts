import type { Money } from '../order/money.ts';
import type { Outcome } from '../steps.ts';
import type { ReadAnswer } from './read-answer.ts';
import type { KnownArticle, KnownQuote } from './state.ts';
import type { Ref } from './store.ts';

/** What the program keeps of a tool's result; the model is shown all of it. */
export interface Learnt {
  articles?: KnownArticle[];
  quotes?: KnownQuote[];
  available?: Money;
}

/** What came of one use of a tool. The text for the model is in the store; a failure is told in a few words. */
export type ToolResult = { callId: string } & (
  { ok: true; ref: Ref; size: number; learnt: Learnt } | { ok: false; error: string }
);

/** The transcript's entry with an answer and what went before it, and how much they add to a prompt. */
export interface EntryInStore {
  ref: Ref;
  size: number;
  /** Of the answer alone. */
  answerSize: number;
}

/** What happened to a run. Plain JSON: a history or a row can hold it. */
export type AgentEvent =
  | {
      kind: 'model-answered';
      turn: number;
      answer: ReadAnswer;
      entry: EntryInStore;
    }
  /** So many calls of the turn to come have been lost by now, all of them counted. */
  | { kind: 'calls-lost'; turn: number; lostCalls: number }
  | { kind: 'tools-used'; turn: number; results: ToolResult[] }
  | { kind: 'person-answered'; gateVersion: number; by: string; text: string }
  | { kind: 'person-decided'; gateVersion: number; decision: 'approve' | 'reject'; by: string }
  | { kind: 'nobody-answered'; gateVersion: number }
  | { kind: 'order-started' }
  | { kind: 'order-ended'; outcome: Outcome; reason?: string }
  | { kind: 'cancelled'; by: string; reason: string };
