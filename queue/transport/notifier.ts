import type { Pool } from 'pg';
import type { Waiters } from './waiters.ts';

export const CHANNEL = 'q2t_message';

/** What a hint or a probe says on the channel. */
export type Notice = { kind: 'hint'; queue: string } | { kind: 'probe'; id: string };

export function notify(pool: Pool, notice: Notice): Promise<unknown> {
  return pool.query('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify(notice)]);
}

/**
 * The one who sends NOTIFY for this process. Its commit takes a lock that the whole cluster shares,
 * so it happens outside the producers' transactions, and however many messages were sent meanwhile,
 * once per queue and interval: the first at once, the rest together.
 */
export class Notifier {
  readonly #pool: Pool;
  readonly #waiters: Waiters;
  readonly #intervalMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #pending = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(pool: Pool, waiters: Waiters, intervalMs: number, onError: (error: unknown) => void) {
    this.#pool = pool;
    this.#waiters = waiters;
    this.#intervalMs = intervalMs;
    this.#onError = onError;
  }

  hint(queue: string): void {
    // Receivers in this process need no round trip.
    this.#waiters.hint(queue);
    if (this.#closed) return;
    this.#pending.add(queue);
    if (this.#timer === undefined && this.#sending === undefined) this.#flush();
  }

  /** Sends what is pending, then no more. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    if (this.#pending.size > 0) await this.#sendPending();
  }

  #flush(): void {
    this.#timer = undefined;
    this.#sending = this.#sendPending().finally(() => {
      this.#sending = undefined;
      if (this.#closed) return;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        if (this.#pending.size > 0) this.#flush();
      }, this.#intervalMs);
    });
  }

  async #sendPending(): Promise<void> {
    const queues = [...this.#pending];
    this.#pending.clear();
    try {
      for (const queue of queues) await notify(this.#pool, { kind: 'hint', queue });
    } catch (error) {
      // A lost hint costs a poll interval, nothing else.
      this.#onError(error);
    }
  }
}
