import { once } from 'node:events';
import net from 'node:net';
import type { Boundary, BoundaryLog } from './boundary.ts';
import type { Armed, Faults, At, Side } from './fault.ts';
import type { Link, Links } from './link.ts';

/** Where a proxy listens. */
export interface Listen {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free one. */
  port?: number;
}

/** A proxy on a worker's way to its server: forwards everything, until a fault that is armed strikes. */
export interface Wire<B, F> {
  readonly host: string;
  readonly port: number;
  /** What became durable so far, in the order in which it did. */
  boundaries(): B[];
  arm(fault: F): Armed<B>;
  /** Faults that have not fired. */
  unfired(): Armed<B>[];
  /** Open connections, of one client or all. */
  connections(client?: string): { client: string; state: 'open' | 'shut' }[];
  /** Closes the connections of one client or all; returns how many. */
  cut(client?: string): number;
  /** Stops forwarding on the connections of one client or all, closing none; returns how many. */
  halfOpen(client?: string): number;
  /** Closes everything; faults that still wait reject with `NeverFired`. */
  close(): Promise<void>;
}

/** A link that forwards until it is over. */
export interface RunningLink extends Link {
  run(): Promise<void>;
}

/** Opens the port and runs a link for each connection. Rejects when the port is taken. */
export async function openWire<
  D extends object,
  F extends { at: At<Boundary & D>; side: Side; action: string },
  L extends RunningLink,
>(
  { host = '127.0.0.1', port = 0 }: Listen,
  parts: {
    log: BoundaryLog<D>;
    faults: Faults<Boundary & D, F>;
    links: Links<L>;
    accept(near: net.Socket): L;
  },
): Promise<Wire<Boundary & D, F>> {
  const { log, faults, links } = parts;
  const running = new Set<Promise<void>>();
  // A client may close its half and still read: the other half is closed by the server behind.
  const server = net.createServer({ allowHalfOpen: true }, (near) => {
    const link = parts.accept(near);
    links.add(link);
    const run = link.run().finally(() => {
      links.remove(link);
      running.delete(run);
    });
    running.add(run);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port to listen on');

  return {
    host,
    port: address.port,
    boundaries: () => log.all(),
    arm: (fault) => faults.arm(fault),
    unfired: () => faults.unfired(),
    connections: (client) =>
      links
        .of(client)
        .flatMap(({ client: of, gate: { state } }) =>
          state === 'ended' ? [] : [{ client: of, state }],
        ),
    cut: (client) => links.cut(client),
    halfOpen: (client) => links.halfOpen(client),
    async close() {
      faults.close();
      const closed = server.listening ? once(server, 'close') : undefined;
      server.close();
      links.cut();
      await Promise.all([closed, ...running]);
    },
  };
}
