import type { Money } from '../order/money.ts';
import type { Order } from '../order/schema.ts';
import type { AgentOutcome } from '../steps.ts';
import { NOTHING_SPENT } from './spend.ts';
import type { Spent } from './spend.ts';
import type { Ref } from './store.ts';
import type { ToolUse } from './uses.ts';

/** An article that a catalogue has shown. */
export interface KnownArticle {
  supplierId: string;
  sku: string;
  name: string;
  unit: string;
}

/** What a supplier asks for it, in the currency of the request. The only prices that an order may have. */
export interface KnownQuote extends KnownArticle {
  unitPrice: string;
}

export interface PersonsAnswer {
  question: string;
  by: string;
  text: string;
}

/** What the program itself has learnt. It goes by this, and never by what the model says it has seen. */
export interface Facts {
  articles: KnownArticle[];
  quotes: KnownQuote[];
  /** What finance said last. */
  available?: Money;
  answers: PersonsAnswer[];
}

/** The turns up to this one in the program's own words. */
export type Digest = Facts & { turns: number };

/** What the next question tells the model besides the transcript: results, and words of the program. */
export type Note =
  | { role: 'tool'; callId: string; text: string }
  | { role: 'tool'; callId: string; ref: Ref; size: number }
  | { role: 'user'; text: string };

/** A question to a person, by name and version, as an order's. */
export type Question = { gateVersion: number; who: string } & (
  { gate: 'question'; callId: string; text: string } | { gate: 'approval'; payable: Money }
);

/** The order that the model has submitted. The program asks who must be asked, and starts it. */
export interface Draft {
  callId: string;
  order: Order;
  payable: Money;
  approved: boolean;
}

/** Where a run of the agent is: plain JSON, small, and all that has to be carried over. */
export interface AgentState {
  /** Answers of the model so far. */
  turn: number;
  spent: Spent;
  /** Calls of the turn to come whose answer was lost, and which have been charged. */
  lost: number;
  /** The newest entry of the transcript. */
  head?: Ref;
  /** What stands for the turns that are no longer sent word for word, as it was known when they were dropped. */
  digest?: Digest;
  /** The sizes of the entries that are sent, oldest first. */
  window: number[];
  /** The most tokens that the last prompt and its answer have, where the server counted and nothing was dropped since. */
  counted?: number;
  notes: Note[];
  /** Uses of tools from the last answer that have no result yet. */
  open: { callId: string; use: ToolUse }[];
  /** Answers in a row that could not be used. */
  repairs: number;
  facts: Facts;
  /** How often a person has been asked. */
  asked: number;
  question?: Question;
  draft?: Draft;
  /** The order has been started: the run follows it, and ends with it. */
  following?: true;
  cancel?: { by: string; reason: string };
  end?: { outcome: AgentOutcome; reason: string };
}

export function initialState(): AgentState {
  return {
    turn: 0,
    spent: NOTHING_SPENT,
    lost: 0,
    window: [],
    notes: [],
    open: [],
    repairs: 0,
    facts: { articles: [], quotes: [], answers: [] },
    asked: 0,
  };
}
