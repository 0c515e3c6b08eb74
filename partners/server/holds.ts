import type { Socket } from 'node:net';
import type { HeldRequest } from '../faults.ts';

export type Holding = Omit<HeldRequest, 'since' | 'callerGone'> & { socket: Socket };

/** `dropped`: the partners are closing, so nothing more is done for this request. */
export type HoldEnd = 'released' | 'dropped';

/** The requests that hang or are being worked on slowly. */
export class Holds {
  readonly #held = new Map<HeldRequest & { socket: Socket }, (end: HoldEnd) => void>();
  #closing = false;

  /** Keeps a request until it is released, or for `landAfterMs`. */
  async hold(holding: Holding, landAfterMs: number | undefined): Promise<HoldEnd> {
    if (this.#closing) return 'dropped';
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
    this.#closing = true;
    for (const resolve of this.#held.values()) resolve('dropped');
  }
}
