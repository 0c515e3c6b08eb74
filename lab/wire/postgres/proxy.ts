import net from 'node:net';
import { BoundaryLog } from '../boundary.ts';
import type { Boundary } from '../boundary.ts';
import { Faults } from '../fault.ts';
import type { Fault } from '../fault.ts';
import { Links, strike } from '../link.ts';
import { openWire } from '../wire.ts';
import type { Listen, Wire } from '../wire.ts';
import { Connection } from './connection.ts';
import { nameOf } from './naming.ts';
import type { RunOf } from './naming.ts';
import type { Commit } from './session.ts';

interface Detail {
  /** The connection's application name. */
  client: string;
  /**
   * Whether it had this name before it was done, so that a `before` fault can be armed at it. A claim
   * that commits by itself has not: its run is only in the rows it returned.
   */
  foreseen: boolean;
}

/** A connection became idle after a write: a COMMIT, or a statement that committed by itself. */
export type PostgresBoundary = Boundary & Detail;
export type PostgresFault = Fault<PostgresBoundary>;

export interface PostgresProxyOptions extends Listen {
  upstream: { host: string; port: number };
  /** Which run a statement is about: `runAmong` the runs of a scenario, or a rule of its own. */
  runOf: RunOf;
  /** Writes that are no boundaries, as heartbeats are not: `onlyOf` their statements. Default: none. */
  ignore?: (commit: Commit) => boolean;
}

export interface PostgresProxy extends Wire<PostgresBoundary, PostgresFault> {
  /** `databaseUrl` through this proxy. `client` becomes the application name that faults strike by. */
  url(databaseUrl: string, client?: string): string;
}

/**
 * Starts a proxy before Postgres that knows when a write becomes durable and can stop the world there.
 * A client is known by its application name: give each worker its own name, or its own proxy, so that
 * a fault strikes one of them. Rejects when the port is taken.
 */
export async function startPostgresProxy(options: PostgresProxyOptions): Promise<PostgresProxy> {
  const { upstream, runOf, ignore = () => false } = options;
  const log = new BoundaryLog<Detail>();
  const faults = new Faults<PostgresBoundary, PostgresFault>();
  const links = new Links<Connection>();

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

  const wire = await openWire(options, {
    log,
    faults,
    links,
    accept: (near) =>
      new Connection(near, net.connect({ ...upstream, allowHalfOpen: true }), watcher),
  });
  return {
    ...wire,
    url(databaseUrl, client) {
      const url = new URL(databaseUrl);
      url.host = `${wire.host}:${wire.port}`;
      if (client !== undefined) url.searchParams.set('application_name', client);
      return url.href;
    },
  };
}
