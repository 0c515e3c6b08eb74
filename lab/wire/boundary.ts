/**
 * A moment at which something of a run became durable: a commit in Postgres, an answered call at
 * Temporal. Both proxies name them, so that a fault can say where and two runs can be compared.
 */
export interface Boundary {
  /** `run | label`: unique within one proxy's life. */
  name: string;
  /** The run it belongs to; undefined when neither statement nor call says. */
  run: string | undefined;
  /** What was done: the statements that wrote, or the call and its task. */
  what: string;
  /** `what #occurrence`: the same for two runs that do the same thing. */
  label: string;
  /** The nth time this run did this, from 1. */
  occurrence: number;
  /** The nth boundary of this run, from 1. Shifts when a heartbeat slips in; `occurrence` does not. */
  ordinal: number;
}

/** The boundaries a proxy has seen, in the order in which they were done. */
export class BoundaryLog<Detail extends object> {
  readonly #seen: (Boundary & Detail)[] = [];
  readonly #perRun = new Map<string, number>();
  readonly #perLabel = new Map<string, number>();

  /** What the next boundary of this run will be called if it is this one. Counts nothing. */
  next(run: string | undefined, what: string, detail: Detail): Boundary & Detail {
    const of = run ?? '-';
    const occurrence = (this.#perLabel.get(`${of} | ${what}`) ?? 0) + 1;
    const ordinal = (this.#perRun.get(of) ?? 0) + 1;
    const label = `${what} #${occurrence}`;
    return { ...detail, name: `${of} | ${label}`, run, what, label, occurrence, ordinal };
  }

  /** Counts a boundary that was done, and returns it as it is now called. */
  record(run: string | undefined, what: string, detail: Detail): Boundary & Detail {
    const boundary = this.next(run, what, detail);
    const of = run ?? '-';
    this.#perLabel.set(`${of} | ${what}`, boundary.occurrence);
    this.#perRun.set(of, boundary.ordinal);
    this.#seen.push(boundary);
    return boundary;
  }

  all(): (Boundary & Detail)[] {
    return [...this.#seen];
  }
}
