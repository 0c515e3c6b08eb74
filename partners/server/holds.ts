import { setTimeout as wait } from 'node:timers/promises';
import type { Socket } from 'node:net';
import type { HeldRequest } from '../faults.ts';

export type Holding = Omit<HeldRequest, 'since' | 'callerGone'> & { socket: Socket };

/** `dropped`: the partners are closing, so nothing more is done for this request. */
export type HoldEnd = 'released' | 'dropped';

/** The requests that hang or are being worked on slowly. */
export class Holds {
  readonly #held = new Map<HeldRequest & { socket: Socket }, (end: HoldEnd) => void>();
  readonly #closing = new AbortController();

  /** Keeps a request until it is released, or for `landAfterMs`. */
  async hold(holding: Holding, landAfterMs: number | undefined): Promise<HoldEnd> {
    if (this.#closing.signal.aborted) return 'dropped';
    const { promise, resolve } = Promise.withResolvers<HoldEnd>();
    const held = { ...holding, since: new Date().toISOString(), callerGone: false };
    this.#held.set(held, resolve);
    const timer =
      landAfterMs === undefined ? undefined : setTimeout(resolve, landAfterMs, 'released');
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#held.delete(held);
    }
  }

  /** Works for `ms` before it goes on. */
  async delay(ms: number): Promise<HoldEnd> {
    try {
      await wait(ms, undefined, { signal: this.#closing.signal });
      return 'released';
    } catch {
      return 'dropped';
    }
  }

  /** Lets the requests of one fault, or all, go on. Returns how many. */
  release(faultId?: string): number {
    const chosen = [...this.#held].filter(([held]) => !faultId || held.faultId === faultId);
    for (const [, resolve] of chosen) resolve('released');
    return chosen.length;
  }

  list(): HeldRequest[] {
    return [...this.#held.keys()].map(({ socket, ...held }) => ({
      ...held,
      callerGone: socket.destroyed,
    }));
  }

  /** Gives up on everything held, for good. */
  drop(): void {
    this.#closing.abort();
    for (const resolve of this.#held.values()) resolve('dropped');
  }
}
