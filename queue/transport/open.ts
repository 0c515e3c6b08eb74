import type { Pool } from 'pg';
import { ack, ackMany } from './ack.ts';
import type { Transport } from './contract.ts';
import { counts } from './counts.ts';
import { deadLetter, deadMessages, discard } from './dead-letter.ts';
import { expire } from './expire.ts';
import { extend } from './extend.ts';
import { limitsOf, type Limits, type ProfileName } from './limits.ts';
import { Listener, type ListenerSettings, type ListenerState } from './listener.ts';
import { nack } from './nack.ts';
import { Notifier } from './notifier.ts';
import { isBehindPooler } from './pooler.ts';
import { purge } from './purge.ts';
import { receive } from './receive.ts';
import { redrive } from './redrive.ts';
import { send } from './send.ts';
import type { Session } from './session.ts';
import { Waiters } from './waiters.ts';

export interface TransportSettings {
  pool: Pool;
  profile: ProfileName;
  /** Changes to the profile: another retention, a larger body. */
  limits?: Partial<Limits>;
  /** Deliveries a message gets before it goes to the dead letters. Default 10. */
  maxReceives?: number;
  /** Let a receive wait for the disk too. Default false: claim.ts says why that is enough. */
  flushClaims?: boolean;
  /** Listen for hints of other processes. A process that only sends doesn't need it. Default false. */
  listen?: boolean;
  listener?: Partial<ListenerSettings>;
  /** How often waiting receivers look while hints arrive. Default 1 s. */
  pollMs?: number;
  /** How often they look while hints don't arrive. Default 200 ms. */
  pollWithoutHintsMs?: number;
  /** At most one NOTIFY per queue and interval. Default 20 ms. */
  notifyIntervalMs?: number;
  /** What an operator should know; a pino logger fits. */
  log?: TransportLog;
}

export interface TransportLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface OpenTransport extends Transport {
  /** Whether hints of other processes arrive; `polling` tells why they don't. */
  readonly hints: ListenerState;
}

const LISTENER: ListenerSettings = { heartbeatMs: 10_000, timeoutMs: 5_000, reconnectMs: 500 };

/**
 * The transport on Postgres. The schema must be there (`migrate`). Close it before you end the pool.
 * Throws a LimitError for limits that contradict each other, and what `pg` throws when the database
 * can't be reached.
 */
export async function openTransport(settings: TransportSettings): Promise<OpenTransport> {
  const { pool, maxReceives = 10, notifyIntervalMs = 20, log } = settings;
  const { pollMs = 1_000, pollWithoutHintsMs = 200, flushClaims = false } = settings;
  if (!Number.isInteger(maxReceives) || maxReceives < 1) {
    throw new RangeError(`maxReceives is ${maxReceives}: give a whole number of at least 1`);
  }
  const limits = limitsOf(settings.profile, settings.limits);
  const prepared = !(await poolIsBehindPooler(pool));
  let listener: Listener | undefined;
  const waiters = new Waiters(() =>
    listener?.state.state === 'listening' ? pollMs : pollWithoutHintsMs,
  );
  const notifier = new Notifier(pool, waiters, notifyIntervalMs, (error) =>
    log?.warn(
      { err: error },
      'a hint was not sent; receivers elsewhere find the message by polling',
    ),
  );
  if (settings.listen === true) {
    listener = new Listener(
      pool,
      { ...LISTENER, ...settings.listener },
      {
        onHint: (queue) => waiters.hint(queue),
        onListening: () => waiters.hint(),
        onState: (state) => report(log, state),
      },
    );
  }
  const session: Session = { pool, limits, prepared, maxReceives, flushClaims, notifier, waiters };

  return {
    limits,
    send: (db, queue, messages) => send(session, db, queue, messages),
    receive: (queue, options) => receive(session, queue, options),
    extend: (queue, receipt, visibilityMs) => extend(session, queue, receipt, visibilityMs),
    ack: (queue, receipt, db) => ack(session, queue, receipt, db),
    ackMany: (queue, receipts, db) => ackMany(session, queue, receipts, db),
    nack: (queue, receipt, options, db) => nack(session, queue, receipt, options, db),
    deadLetter: (queue, receipt, reason, db) => deadLetter(session, queue, receipt, reason, db),
    deadMessages: (queue, options, db) => deadMessages(session, queue, options, db),
    redrive: (queue, messageIds, db) => redrive(session, queue, messageIds, db),
    discard: (queue, messageIds, db) => discard(session, queue, messageIds, db),
    purge: (queue) => purge(session, queue),
    expire: (queue) => expire(session, queue),
    counts: (queue) => counts(session, queue),
    hint: (queue) => notifier.hint(queue),
    get hints() {
      return listener?.state ?? { state: 'polling', reason: 'opened without listen' };
    },
    async close() {
      waiters.close();
      await listener?.close();
      await notifier.close();
    },
  };
}

async function poolIsBehindPooler(pool: Pool): Promise<boolean> {
  const client = await pool.connect();
  try {
    return await isBehindPooler(client);
  } finally {
    client.release();
  }
}

function report(log: TransportLog | undefined, state: ListenerState): void {
  if (state.state === 'polling') {
    log?.warn(state, 'hints do not arrive, receivers poll');
  } else {
    log?.info(state, 'hints arrive');
  }
}
