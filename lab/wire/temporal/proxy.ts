import http2 from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import { BoundaryLog } from '../boundary.ts';
import type { Boundary } from '../boundary.ts';
import { Faults } from '../fault.ts';
import type { At, Fault, Shot } from '../fault.ts';
import { Links, strike } from '../link.ts';
import { openWire } from '../wire.ts';
import type { Listen, Wire } from '../wire.ts';
import { Connection } from './connection.ts';
import { Tasks } from './tasks.ts';
import type { NamedCall, Task } from './tasks.ts';

interface Detail {
  /** The caller's identity. */
  client: string;
  rpc: string;
  /** The task it answers, for answers to tasks. */
  task: Task | undefined;
}

/** A call that made something durable was answered. Its run is the workflow id. */
export type TemporalBoundary = Boundary & Detail;

/** What can happen to a single call, besides what both wires can do to a client. */
type Loss = {
  at: At<TemporalBoundary>;
  /** `is-reset`: the call fails at once, and a worker repeats it. `hangs`: nothing comes back, until its own deadline. */
  caller?: 'is-reset' | 'hangs';
} & (
  | {
      /** Never reaches the server. The caller hangs by default. */ action: 'drop-request';
      side: 'before';
    }
  | {
      /** Done, but the answer is lost. The caller's call is reset by default. */ action: 'lose-answer';
      side: 'after';
    }
);

export type TemporalFault = Fault<TemporalBoundary> | Loss;

export interface TemporalProxyOptions extends Listen {
  /** `host:port` of the frontend, without TLS. */
  upstream: string;
}

export interface TemporalProxy extends Wire<TemporalBoundary, TemporalFault> {
  /** `host:port` for a worker's TEMPORAL_ADDRESS. */
  readonly address: string;
}

/**
 * Starts a proxy before Temporal's frontend that reads a worker's calls, names those that make something
 * durable, and can stop the world there. A client is known by its worker identity (`pid@host`).
 * Rejects when the port is taken.
 */
export async function startTemporalProxy(options: TemporalProxyOptions): Promise<TemporalProxy> {
  const log = new BoundaryLog<Detail>();
  const faults = new Faults<TemporalBoundary, TemporalFault>();
  const links = new Links<Connection>();
  const tasks = new Tasks();

  const watcher = {
    async before(call: NamedCall, caller: ServerHttp2Stream, connection: Connection) {
      const boundary = log.next(call.workflowId, call.what, detailOf(call, connection));
      const shot = faults.reach(boundary, 'before');
      return shot === undefined || strikeCall(shot, caller, connection, links);
    },
    async after(call: NamedCall, caller: ServerHttp2Stream, connection: Connection) {
      const boundary = log.record(call.workflowId, call.what, detailOf(call, connection));
      const shot = faults.reach(boundary, 'after');
      return shot === undefined || strikeCall(shot, caller, connection, links);
    },
  };

  const wire = await openWire(options, {
    log,
    faults,
    links,
    accept: (near) => new Connection(near, options.upstream, tasks, watcher),
  });
  return { ...wire, address: `${wire.host}:${wire.port}` };
}

function detailOf({ rpc, task }: NamedCall, { client }: Connection): Detail {
  return { client, rpc, task };
}

async function strikeCall(
  shot: Shot<TemporalBoundary, TemporalFault>,
  caller: ServerHttp2Stream,
  connection: Connection,
  links: Links<Connection>,
): Promise<boolean> {
  const { fault } = shot;
  if (fault.action !== 'drop-request' && fault.action !== 'lose-answer')
    return strike({ ...shot, fault }, connection, links);
  const byDefault = fault.action === 'drop-request' ? 'hangs' : 'is-reset';
  if ((fault.caller ?? byDefault) === 'is-reset')
    caller.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  shot.finish();
  return false;
}
