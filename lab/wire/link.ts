import type { Fault, Shot } from './fault.ts';

/** Lets bytes through, or holds them: the one place where a connection is stopped. */
export class Gate {
  #state: 'open' | 'shut' | 'ended' = 'open';
  readonly #ended = Promise.withResolvers<void>();

  get state(): 'open' | 'shut' | 'ended' {
    return this.#state;
  }

  /** Holds everything from now on. There is no way back but the connection's end. */
  shut(): void {
    if (this.#state === 'open') this.#state = 'shut';
  }

  /** The connection is over: whoever waits is sent home. */
  end(): void {
    this.#state = 'ended';
    this.#ended.resolve();
  }

  /** True at once when open; waits when shut; false when the connection is over. */
  async passage(): Promise<boolean> {
    if (this.#state === 'shut') await this.#ended.promise;
    return this.#state === 'open';
  }
}

/** One client connection with its own upstream connection. */
export interface Link {
  /** Who is at the other end: Postgres' application name, a Temporal worker's identity. */
  readonly client: string;
  readonly gate: Gate;
  /** Closes both ends at once. */
  destroy(): void;
}

/** The open connections of one proxy. */
export class Links<L extends Link> {
  readonly #links = new Set<L>();

  add(link: L): void {
    this.#links.add(link);
  }

  remove(link: L): void {
    this.#links.delete(link);
  }

  /** Of one client, or all. */
  of(client?: string): L[] {
    return [...this.#links].filter((link) => client === undefined || link.client === client);
  }

  /** Closes them; returns how many. */
  cut(client?: string): number {
    const links = this.of(client);
    for (const link of links) link.destroy();
    return links.length;
  }

  /** Stops forwarding on them without closing; returns how many. */
  halfOpen(client?: string): number {
    const links = this.of(client);
    for (const link of links) link.gate.shut();
    return links.length;
  }
}

/**
 * Carries a fault out on the client of `link`. Returns true when what was held may go on, false when
 * its connection is cut or silent. A `meanwhile` that throws cuts the client and rejects `done`.
 */
export async function strike<B, L extends Link>(
  shot: Shot<B, Fault<B>>,
  link: L,
  links: Links<L>,
): Promise<boolean> {
  const { fault, boundary } = shot;
  // Without a name a client is this one connection: strangers don't die together.
  const all = () => (link.client === '' ? [link] : links.of(link.client));
  const cut = () => all().forEach((each) => each.destroy());
  try {
    switch (fault.action) {
      case 'stop-the-world':
        all().forEach((each) => each.gate.shut());
        await fault.meanwhile(boundary);
        cut();
        break;
      case 'cut':
        cut();
        break;
      case 'half-open':
        all().forEach((each) => each.gate.shut());
        break;
      case 'delay':
        await fault.meanwhile(boundary);
        break;
    }
    shot.finish();
  } catch (cause) {
    cut();
    shot.fail(cause);
  }
  return link.gate.state === 'open';
}
