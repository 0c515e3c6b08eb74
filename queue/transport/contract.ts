import type { ClientBase, Pool } from 'pg';

/** A pool, or a client inside a transaction of the caller. */
export type Db = Pool | ClientBase;

export interface OutgoingMessage {
  body: unknown;
  /** Milliseconds until the message may be received. */
  delayMs?: number;
}

export interface ReceivedMessage {
  messageId: string;
  body: unknown;
  /** Proof of this very delivery: ack, nack and extend with an older one answer `stale`. */
  receipt: string;
  /** This delivery included. */
  receiveCount: number;
  sentAt: Date;
  /** By the database's clock. */
  visibleAgainAt: Date;
}

/** `stale`: somebody else has received the message since. Nothing changed; the consumer goes on living. */
export type ReceiptAnswer = 'ok' | 'stale';

export interface QueueCounts {
  available: number;
  inFlight: number;
  delayed: number;
  dead: number;
  oldestAgeMs: number | null;
}

/**
 * A queue as the products sell it: statements about messages, none about runs. Any transport must
 * pass the contract suite in test/queue.
 */
export interface Transport {
  /** Writes in the transaction of `db` when that is a client inside one. Returns the message ids, in order. */
  send(db: Db, queue: string, messages: OutgoingMessage[]): Promise<string[]>;
  receive(
    queue: string,
    options: { max: number; visibilityMs: number; waitMs: number },
  ): Promise<ReceivedMessage[]>;
  extend(queue: string, receipt: string, visibilityMs: number): Promise<ReceiptAnswer>;
  /** With a client inside a transaction, the ack commits or rolls back with it. */
  ack(queue: string, receipt: string, db?: Db): Promise<ReceiptAnswer>;
  nack(
    queue: string,
    receipt: string,
    options: { delayMs: number; reason?: string },
    db?: Db,
  ): Promise<ReceiptAnswer>;
  deadLetter(queue: string, receipt: string, reason: string, db?: Db): Promise<ReceiptAnswer>;
  /** Moves dead messages back; all of them or the named ones. Returns how many. */
  redrive(queue: string, messageIds?: string[]): Promise<number>;
  purge(queue: string): Promise<number>;
  counts(queue: string): Promise<QueueCounts>;
  close(): Promise<void>;
}
