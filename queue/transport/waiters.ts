interface Waiter {
  wake: () => void;
}

interface Line {
  /** Rises with every hint: a hint that comes between a look and the wait for the next is not lost. */
  generation: number;
  waiting: Set<Waiter>;
  poll: NodeJS.Timeout | undefined;
}

export interface Wait {
  /** The generation read before the look that found nothing. */
  seen: number;
  leftMs: number;
  /** When the next delayed message is due, if there is one. */
  dueMs: number | null;
  signal: AbortSignal | undefined;
}

/**
 * The receivers of this process that found nothing, one line per queue. They poll together: one
 * look per interval, however many wait. A hint wakes one of them; if its catch is full it wakes the
 * next, so that a hundred idle workers don't all query for a single message.
 */
export class Waiters {
  closed = false;
  readonly #lines = new Map<string, Line>();
  readonly #pollMs: () => number;

  /** `pollMs` is asked before every poll: it is longer while hints arrive. */
  constructor(pollMs: () => number) {
    this.#pollMs = pollMs;
  }

  generation(queue: string): number {
    return this.#line(queue).generation;
  }

  /** A message may be there: in one queue, or in any. */
  hint(queue?: string): void {
    for (const name of queue === undefined ? this.#lines.keys() : [queue]) {
      this.#line(name).generation += 1;
      this.wakeOne(name);
    }
  }

  wakeOne(queue: string): void {
    const [first] = this.#line(queue).waiting;
    first?.wake();
  }

  /** Returns when it is time to look again. */
  wait(queue: string, { seen, leftMs, dueMs, signal }: Wait): Promise<void> {
    const line = this.#line(queue);
    if (this.closed || signal?.aborted || line.generation !== seen) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter: Waiter = {
        wake: () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', waiter.wake);
          line.waiting.delete(waiter);
          resolve();
        },
      };
      const timer = setTimeout(waiter.wake, leftMs);
      signal?.addEventListener('abort', waiter.wake);
      line.waiting.add(waiter);
      this.#schedulePoll(queue, line, dueMs);
    });
  }

  close(): void {
    this.closed = true;
    for (const line of this.#lines.values()) {
      clearTimeout(line.poll);
      for (const waiter of [...line.waiting]) waiter.wake();
    }
  }

  #schedulePoll(queue: string, line: Line, dueMs: number | null): void {
    // The latest look knows best what is due next, so it replaces the timer.
    clearTimeout(line.poll);
    const inMs = Math.ceil(Math.min(this.#pollMs(), dueMs ?? Infinity));
    line.poll = setTimeout(() => {
      this.wakeOne(queue);
      // Whoever was woken looks and comes back; if its look failed, the others still need a poll.
      if (line.waiting.size > 0) this.#schedulePoll(queue, line, null);
    }, inMs);
  }

  #line(queue: string): Line {
    let line = this.#lines.get(queue);
    if (line === undefined) {
      line = { generation: 0, waiting: new Set(), poll: undefined };
      this.#lines.set(queue, line);
    }
    return line;
  }
}
