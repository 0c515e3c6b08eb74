import type {
  CancelResult,
  DeadLetters,
  DecideResult,
  Implementation,
  ListResult,
  RunPosition,
  RunSummary,
  SubmitResult,
  WhereResult,
} from '../contract.ts';
import type { OrderId } from '../identity.ts';
import type { AgentOutcome, AgentStep, Status } from '../steps.ts';
import type { AgentAsk } from './input.ts';
import type { AgentPolicy } from './policy.ts';
import type { Spent } from './spend.ts';
import type { AgentState, Question } from './state.ts';

/** Where a run of the buying agent is. `version` is that of its prompt and tools. */
export interface AgentPosition extends RunPosition<AgentStep, AgentOutcome> {
  /** Answers of the model so far. */
  turn: number;
  spent: Spent;
  budget: Pick<AgentPolicy, 'maxTurns' | 'maxTokens' | 'maxNanoEur'>;
  /** What a person is asked now. */
  question?: Question;
  /** The order that the model has submitted, and whether it has been started. */
  order?: { id: OrderId; started: boolean };
}

export type AgentWhereResult = WhereResult<AgentPosition>;

/** What a person says to an open gate: words to a `question`, a yes or a no to an `approval`. */
export type AgentAnswer = {
  /** As `Question['gate']`; any other name is refused as `wrong-gate`. */
  gate: string;
  gateVersion: number;
  by: string;
} & ({ text: string } | { decision: 'approve' | 'reject'; note?: string });

export interface AgentFilter {
  status?: Status;
  step?: AgentStep;
  requestRef?: string;
  buyerId?: string;
  /** At most this many, newest first. Default 100. */
  limit?: number;
}

export type AgentSummary = RunSummary<AgentStep, AgentOutcome>;
export type AgentListResult = ListResult<AgentSummary>;

/** What of a run is in the claim-check store: the newest entry's name, and what has been said since. */
export type TranscriptPlace = Pick<AgentState, 'head' | 'notes'>;
export type TranscriptResult = WhereResult<TranscriptPlace>;

/** What queue and temporal have in common for the buying agent, as `Pipeline` is for the order. */
export interface AgentPipeline {
  readonly implementation: Implementation;
  /** Idempotent by the request's identity and content. */
  ask(asked: AgentAsk): Promise<SubmitResult<AgentOutcome>>;
  /** Never needs a live worker. */
  where(id: OrderId): Promise<AgentWhereResult>;
  /**
   * Answers a person's question; a late, early, second or wrong-gate answer is a conflict with an entry in
   * the history. Throws a RangeError for what is no answer, or longer than 1,000 characters.
   */
  answer(id: OrderId, answer: AgentAnswer): Promise<DecideResult>;
  /** Stops the run; an order that it has started is cancelled first, and says what became of that. */
  cancel(id: OrderId, by: string, reason: string): Promise<CancelResult>;
  /** Where in the store the transcript is. Never needs a live worker. */
  transcript(id: OrderId): Promise<TranscriptResult>;
  list(filter?: AgentFilter): Promise<AgentListResult>;
  /** Without `fix`: a request that was wrong is asked anew, under another reference. */
  readonly deadLetters: Pick<DeadLetters, 'list' | 'replay' | 'discard'>;
  /** Every place in the store that a run still needs, for `collect`. */
  places(): AsyncIterable<TranscriptPlace>;
  close(): Promise<void>;
}
