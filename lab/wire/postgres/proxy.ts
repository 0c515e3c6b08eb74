import { once } from 'node:events';
import net from 'node:net';
import { BoundaryLog } from '../boundary.ts';
import type { Boundary } from '../boundary.ts';
import { Faults } from '../fault.ts';
import type { Armed, Fault } from '../fault.ts';
import { Links, strike } from '../link.ts';
import { Connection } from './connection.ts';
import { nameOf, runInStatement } from './naming.ts';
import type { RunOf } from './naming.ts';
import type { Commit } from './session.ts';

/** A connection became idle after a write: a COMMIT, or a statement that committed by itself. */
export interface PostgresBoundary extends Boundary {
  /** The connection's application name. */
  client: string;
  /**
   * Whether it had this name before it was done, so that a `before` fault can be armed at it. A claim
   * that commits by itself has not: its run is only in the rows it returned.
   */
  foreseen: boolean;
}

export type PostgresFault = Fault<PostgresBoundary>;

export interface PostgresProxyOptions {
  upstream: { host: string; port: number };
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free one. */
  port?: number;
  /** Which run a statement is about. Default: the first `order/…/…` in its parameters, text or rows. */
  runOf?: RunOf;
  /** Writes that are no boundaries, as heartbeats are not. Default: none. */
  ignore?: (commit: Commit) => boolean;
}

export interface PostgresProxy {
  readonly host: string;
  readonly port: number;
  /** `databaseUrl` through this proxy. `client` becomes the application name that faults strike by. */
  url(databaseUrl: string, client?: string): string;
  /** What became durable so far, in order. */
  boundaries(): PostgresBoundary[];
  arm(fault: PostgresFault): Armed<PostgresBoundary>;
  /** Faults that have not fired. */
  unfired(): Armed<PostgresBoundary>[];
  /** Open connections, of one client or all. */
  connections(client?: string): { client: string; state: 'open' | 'shut' | 'ended' }[];
  /** Closes the connections of one client or all; returns how many. */
  cut(client?: string): number;
  /** Stops forwarding on the connections of one client or all, closing none; returns how many. */
  halfOpen(client?: string): number;
  /** Closes everything; faults that still wait reject with `NeverFired`. */
  close(): Promise<void>;
}

/**
 * Starts a proxy before Postgres that knows when a write becomes durable and can stop the world there.
 * A client is known by its application name: give each worker its own name, or its own proxy, so that
 * a fault strikes one of them. Rejects when the port is taken.
 */
export async function startPostgresProxy(options: PostgresProxyOptions): Promise<PostgresProxy> {
  const { upstream, host = '127.0.0.1', runOf = runInStatement, ignore = () => false } = options;
  const log = new BoundaryLog<{ client: string; foreseen: boolean }>();
  const faults = new Faults<PostgresBoundary, PostgresFault>();
  const links = new Links<Connection>();
  const running = new Set<Promise<void>>();

  const watcher = {
    get watching() {
      return faults.waiting;
    },
    async before(commit: Commit, connection: Connection): Promise<boolean> {
      if (ignore(commit)) return true;
      const { run, what } = nameOf(commit, runOf);
      const detail = { client: connection.client, foreseen: true };
      const shot = faults.reach(log.next(run, what, detail), 'before');
      return shot === undefined || strike(shot, connection, links);
    },
    async after(commit: Commit, connection: Connection): Promise<boolean> {
      if (ignore(commit)) return true;
      const { run, what, foreseen } = nameOf(commit, runOf);
      const boundary = log.record(run, what, { client: connection.client, foreseen });
      const shot = faults.reach(boundary, 'after');
      return shot === undefined || strike(shot, connection, links);
    },
  };

  const server = net.createServer({ allowHalfOpen: true }, (near) => {
    const far = net.connect({ ...upstream, allowHalfOpen: true });
    const connection = new Connection(near, far, watcher);
    links.add(connection);
    const run = connection.run().finally(() => {
      links.remove(connection);
      running.delete(run);
    });
    running.add(run);
  });
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port to listen on');
  const { port } = address;

  return {
    host,
    port,
    url(databaseUrl, client) {
      const url = new URL(databaseUrl);
      url.host = `${host}:${port}`;
      if (client !== undefined) url.searchParams.set('application_name', client);
      return url.href;
    },
    boundaries: () => log.all(),
    arm: (fault) => faults.arm(fault),
    unfired: () => faults.unfired(),
    connections: (client) =>
      links.of(client).map((link) => ({ client: link.client, state: link.gate.state })),
    cut: (client) => links.cut(client),
    halfOpen: (client) => links.halfOpen(client),
    async close() {
      faults.close();
      const closed = once(server, 'close');
      server.close();
      links.cut();
      await Promise.all([closed, ...running]);
    },
  };
}
