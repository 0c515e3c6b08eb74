import type { ClientBase, Pool } from 'pg';
import type { Limits } from './limits.ts';

/** A pool, or a client inside a transaction of the caller. */
export type Db = Pool | ClientBase;

export interface OutgoingMessage {
  /** Anything `JSON.stringify` can write. */
  body: unknown;
  /** Milliseconds until the message may be received. */
  delayMs?: number;
  /** The producer's idempotency key. It survives dead-lettering and redrive; the message id does not. */
  key?: string;
}

/** A delivery that has ended without an ack. Times are ISO 8601, by the database's clock. */
export interface Attempt {
  began: string;
  ended: string;
  /** `visibility ran out`, or the reason given to nack, dead-letter or redrive. */
  outcome: string;
}

export interface ReceivedMessage {
  messageId: string;
  body: unknown;
  key?: string;
  /** Proof of this very delivery: ack, nack and extend with an older one answer `stale`. */
  receipt: string;
  /** This delivery included. */
  receiveCount: number;
  sentAt: Date;
  /** By the database's clock. */
  visibleAgainAt: Date;
  /** The deliveries before this one that were not acked, oldest first, at most the last 50. */
  attempts: Attempt[];
}

/** A message that used up its receives, or was given up by its consumer. */
export interface DeadMessage {
  /** The id it had in its queue. */
  messageId: string;
  body: unknown;
  key?: string;
  reason: string;
  receiveCount: number;
  /** When the producer sent it: the age of a dead letter starts here. */
  sentAt: Date;
  deadAt: Date;
  attempts: Attempt[];
}

/** `stale`: this delivery is no longer the current one. Nothing changed; the consumer goes on living. */
export type ReceiptAnswer = 'ok' | 'stale';

export interface QueueCounts {
  available: number;
  inFlight: number;
  delayed: number;
  dead: number;
  /** Age since it was sent of the oldest message that could be received now. */
  oldestAgeMs: number | null;
}

export interface ReceiveOptions {
  /** At most this many messages. */
  max: number;
  /** How long the messages are hidden from others. */
  visibilityMs: number;
  /** How long to wait for a first message; 0 looks once. */
  waitMs: number;
  /** Ends the wait early, with no messages: a worker that shuts down stops claiming. */
  signal?: AbortSignal;
}

export interface NackOptions {
  /** Milliseconds until the message may be received again. */
  delayMs: number;
  reason?: string;
  /**
   * Gives the receive back: the message was not tried (a drain, a version this worker doesn't
   * have), so it must not come nearer to the dead letters for it.
   */
  uncounted?: boolean;
}

/**
 * A queue as the products sell it: statements about messages, none about runs. Any transport must
 * pass the contract suite in test/queue/transport. Every operation with a `db` joins the
 * transaction of that client.
 *
 * Throws a LimitError, before anything is written, for what the transport's profile does not allow.
 */
export interface Transport {
  /** What it allows: whoever sends or receives many does so in batches of that size. */
  readonly limits: Limits;
  /** Writes in the transaction of `db` when that is a client inside one. Returns the message ids, in order. */
  send(db: Db, queue: string, messages: OutgoingMessage[]): Promise<string[]>;
  /**
   * Delivers up to `max` messages, each with a fresh receipt. One that has used up its receives is
   * moved to the dead letters instead.
   */
  receive(queue: string, options: ReceiveOptions): Promise<ReceivedMessage[]>;
  extend(queue: string, receipt: string, visibilityMs: number): Promise<ReceiptAnswer>;
  /** With a client inside a transaction, the ack commits or rolls back with it. */
  ack(queue: string, receipt: string, db?: Db): Promise<ReceiptAnswer>;
  /** One answer for each receipt, in order; the stale ones don't hold the others up. */
  ackMany(queue: string, receipts: string[], db?: Db): Promise<ReceiptAnswer[]>;
  nack(queue: string, receipt: string, options: NackOptions, db?: Db): Promise<ReceiptAnswer>;
  deadLetter(queue: string, receipt: string, reason: string, db?: Db): Promise<ReceiptAnswer>;
  /** Dead letters, oldest first; `after` is the last message id of the page before. */
  deadMessages(
    queue: string,
    options?: { limit?: number; after?: string },
    db?: Db,
  ): Promise<DeadMessage[]>;
  /**
   * Moves dead messages back, all of them or the named ones: under a new message id, with their key
   * and history, and with all their receives ahead of them. Returns how many.
   */
  redrive(queue: string, messageIds?: string[], db?: Db): Promise<number>;
  /** Gives dead messages up for good. Returns how many. */
  discard(queue: string, messageIds: string[], db?: Db): Promise<number>;
  /** Deletes every message of the queue, those in flight too; dead letters stay. Returns how many. */
  purge(queue: string): Promise<number>;
  /** Deletes what is older than the profile's retention, counted from when it was first sent. */
  expire(queue: string): Promise<{ messages: number; dead: number }>;
  counts(queue: string): Promise<QueueCounts>;
  /**
   * Tells receivers in all processes to look now. `send` does it by itself, except in a transaction
   * that `withTransaction` doesn't manage. Only a hint: whoever misses it finds the message by polling.
   */
  hint(queue: string): void;
  /** Waiting receives return empty, the listener's connection is closed. The pool stays the caller's. */
  close(): Promise<void>;
}
