import type { Boundary } from './boundary.ts';

/** `before`: what makes it durable is not sent upstream. `after`: it is done, but nobody is told. */
export type Side = 'before' | 'after';

/** Runs while the world stands still: kill the worker, freeze it, start its successor. */
export type Meanwhile<B> = (boundary: B) => void | Promise<void>;

/** Where a fault strikes: a boundary's name, or a rule over boundaries. It strikes once. */
export type At<B> = string | ((boundary: B) => boolean);

/** What both wires can do to a client that reaches a boundary. */
export type Fault<B> = { at: At<B>; side: Side } & (
  | {
      /** Nothing of this client passes any more; `meanwhile`; then all its connections are cut. */
      action: 'stop-the-world';
      meanwhile: Meanwhile<B>;
    }
  /** All connections of this client are closed. */
  | { action: 'cut' }
  /** Nothing of this client passes any more, in either direction, and nothing is closed. */
  | { action: 'half-open' }
  /** Only this statement or call waits for `meanwhile` and then goes on: a commit that lands late. */
  | { action: 'delay'; meanwhile: Meanwhile<B> }
);

/** An armed fault that was taken back, or whose proxy was closed, before its boundary came. */
export class NeverFired extends Error {
  override readonly name = 'NeverFired';
}

export interface Armed<B> {
  /** For a message: where it is armed and what it does. */
  readonly description: string;
  readonly state: 'waiting' | 'fired' | 'disarmed';
  /** The boundary was reached and is held. Rejects with `NeverFired` when that never happens. */
  readonly fired: Promise<B>;
  /** The fault has run its course: `meanwhile` is over, connections are cut. Rejects as `meanwhile` does. */
  readonly done: Promise<B>;
  /** Takes a waiting fault back; nothing happens to one that fired. */
  disarm(): void;
}

/** A fault that has been reached, on its way through its action. */
export interface Shot<B, F> {
  fault: F;
  boundary: B;
  finish(): void;
  fail(cause: unknown): void;
}

type Entry<B, F> = { fault: F; armed: Armed<B>; fire(boundary: B): Shot<B, F> };

/** The faults of one proxy. */
export class Faults<B extends Boundary, F extends { at: At<B>; side: Side; action: string }> {
  readonly #entries: Entry<B, F>[] = [];

  arm(fault: F): Armed<B> {
    const entry = enter<B, F>(fault);
    this.#entries.push(entry);
    return entry.armed;
  }

  /** True while some fault waits: a proxy with none can skip the bookkeeping that delays. */
  get waiting(): boolean {
    return this.#entries.some(({ armed }) => armed.state === 'waiting');
  }

  /** The first waiting fault for this side of this boundary, which has thereby fired. */
  reach(boundary: B, side: Side): Shot<B, F> | undefined {
    const entry = this.#entries.find(
      ({ armed, fault }) =>
        armed.state === 'waiting' && fault.side === side && matches(fault.at, boundary),
    );
    return entry?.fire(boundary);
  }

  /** Faults that never fired: a test that expected one of them proved nothing. */
  unfired(): Armed<B>[] {
    return this.#entries.map(({ armed }) => armed).filter(({ state }) => state !== 'fired');
  }

  /** Ends the waiting of all: their promises reject with `NeverFired`. */
  close(): void {
    for (const { armed } of this.#entries) armed.disarm();
  }
}

function enter<B, F extends { at: At<B>; side: Side; action: string }>(fault: F): Entry<B, F> {
  const fired = Promise.withResolvers<B>();
  const done = Promise.withResolvers<B>();
  // Most callers await only one of the two: the other must not end the process when it rejects.
  fired.promise.catch(() => undefined);
  done.promise.catch(() => undefined);
  const where = typeof fault.at === 'string' ? fault.at : 'a rule';
  let state: Armed<B>['state'] = 'waiting';
  const armed: Armed<B> = {
    description: `${fault.action} ${fault.side} ${where}`,
    get state() {
      return state;
    },
    fired: fired.promise,
    done: done.promise,
    disarm() {
      if (state !== 'waiting') return;
      state = 'disarmed';
      const never = new NeverFired(`never fired: ${armed.description}`);
      fired.reject(never);
      done.reject(never);
    },
  };
  const fire = (boundary: B): Shot<B, F> => {
    state = 'fired';
    fired.resolve(boundary);
    return { fault, boundary, finish: () => done.resolve(boundary), fail: done.reject };
  };
  return { fault, armed, fire };
}

function matches<B extends Boundary>(at: At<B>, boundary: B): boolean {
  return typeof at === 'string' ? at === boundary.name : at(boundary);
}
