import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Pool } from 'pg';
import { CHANNEL, notify, type Notice } from './notifier.ts';
import { isBehindPooler } from './pooler.ts';

/** `polling`: hints can't reach this process, and the reason says why. */
export type ListenerState =
  { state: 'connecting' } | { state: 'listening' } | { state: 'polling'; reason: string };

export interface ListenerSettings {
  /** A sign of life on the listening session this often. */
  heartbeatMs: number;
  /** A heartbeat, a probe or a connect that takes longer is taken for dead. */
  timeoutMs: number;
  /** Pause before the next connection after one was lost. */
  reconnectMs: number;
}

export interface ListenerEvents {
  onHint: (queue: string) => void;
  /** Hints flow (again). What came in between is unknown: look at every queue now. */
  onListening: () => void;
  onState: (state: ListenerState) => void;
}

/**
 * Holds one connection that LISTENs, outside the pool. A connection that was cut announces itself;
 * one that is half-open says nothing for ever, which is why every session has a heartbeat, and why
 * the heartbeat asks on the same session whether it still listens.
 */
export class Listener {
  readonly #pool: Pool;
  readonly #settings: ListenerSettings;
  readonly #events: ListenerEvents;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #state: ListenerState = { state: 'connecting' };

  constructor(pool: Pool, settings: ListenerSettings, events: ListenerEvents) {
    this.#pool = pool;
    this.#settings = settings;
    this.#events = events;
    this.#running = this.#run();
  }

  get state(): ListenerState {
    return this.#state;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const socket = new Socket();
      const client = new pg.Client({
        ...this.#pool.options,
        // So that an operator who looks at the sessions knows which one this is.
        application_name: `${this.#pool.options.application_name ?? 'q2t'} listener`,
        connectionTimeoutMillis: this.#settings.timeoutMs,
        keepAlive: true,
        stream: () => socket,
      });
      const reason = await this.#session(client).catch(describe);
      // The socket, not client.end(): a half-open connection never answers a polite goodbye.
      socket.destroy();
      if (signal.aborted || reason === undefined) break;
      this.#setState({ state: 'polling', reason });
      await delay(this.#settings.reconnectMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Lives as long as the connection does. Throws why it ended; returns when it should not be tried again. */
  async #session(client: pg.Client): Promise<string | undefined> {
    const { promise: died, reject } = Promise.withResolvers<never>();
    died.catch(() => undefined);
    client.on('error', reject);
    client.on('end', () => reject(new Error('the connection was closed')));
    const { promise: probed, resolve: probeArrived } = Promise.withResolvers<true>();
    const probeId = randomUUID();
    client.on('notification', ({ payload = '' }) => {
      const notice = readNotice(payload);
      if (notice?.kind === 'hint') this.#events.onHint(notice.queue);
      if (notice?.kind === 'probe' && notice.id === probeId) probeArrived(true);
    });

    await this.#inTime(died, client.connect(), 'connecting');
    await this.#inTime(died, client.query(`LISTEN ${CHANNEL}`), 'LISTEN');
    // From another connection, as real hints come. LISTEN succeeds behind a transaction-mode
    // pooler too, on a server connection that is somebody else's a moment later.
    await notify(this.#pool, { kind: 'probe', id: probeId });
    const heard = await this.#inTime(died, probed, 'a first notification').catch(() => false);
    if (!heard && (await isBehindPooler(client))) {
      const reason = 'notifications do not come through: a pooler in transaction mode?';
      this.#setState({ state: 'polling', reason });
      return undefined;
    }
    if (!heard) throw new Error('a first notification did not arrive in time');
    this.#setState({ state: 'listening' });
    this.#events.onListening();
    await this.#beat(client, died);
    return undefined;
  }

  async #beat(client: pg.Client, died: Promise<never>): Promise<void> {
    const { signal } = this.#closing;
    const stopped = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve()),
    );
    while (!signal.aborted) {
      const pause = delay(this.#settings.heartbeatMs, undefined, { signal }).catch(() => undefined);
      await Promise.race([died, stopped, pause]);
      if (signal.aborted) return;
      const { rows } = await this.#inTime(
        died,
        client.query('SELECT FROM pg_listening_channels() AS c WHERE c = $1', [CHANNEL]),
        'a heartbeat',
      );
      if (rows.length === 0) throw new Error('the session no longer listens');
    }
  }

  async #inTime<T>(died: Promise<never>, work: Promise<T>, what: string): Promise<T> {
    const timeout = new AbortController();
    const { timeoutMs } = this.#settings;
    const late = delay(timeoutMs, undefined, { signal: timeout.signal }).then(() => {
      throw new Error(`${what} took more than ${timeoutMs} ms`);
    });
    late.catch(() => undefined);
    work.catch(() => undefined);
    const closed = new Promise<never>((_, reject) =>
      this.#closing.signal.addEventListener('abort', () => reject(new Error('closed')), {
        signal: timeout.signal,
      }),
    );
    try {
      return await Promise.race([died, work, late, closed]);
    } finally {
      timeout.abort();
    }
  }

  /** Says it once: a database that is away for an hour is not news twice a second. */
  #setState(state: ListenerState): void {
    const before = this.#state;
    this.#state = state;
    if (before.state === 'polling' && state.state === 'polling') return;
    this.#events.onState(state);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Null for what others may have sent on our channel. */
function readNotice(payload: string): Notice | null {
  try {
    const notice: unknown = JSON.parse(payload);
    if (typeof notice !== 'object' || notice === null || !('kind' in notice)) return null;
    if (notice.kind === 'hint' && 'queue' in notice && typeof notice.queue === 'string') {
      return { kind: 'hint', queue: notice.queue };
    }
    if (notice.kind === 'probe' && 'id' in notice && typeof notice.id === 'string') {
      return { kind: 'probe', id: notice.id };
    }
    return null;
  } catch {
    return null;
  }
}
