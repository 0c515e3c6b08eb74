import http2 from 'node:http2';
import type {
  ClientHttp2Session,
  Http2Session,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { Gate } from '../link.ts';
import { pump, socketPair } from '../pump.ts';
import type { RunningLink } from '../wire.ts';
import { readBoundary, readPoller, rpcOf } from './calls.ts';
import { bodyOf, call, messageIn, reply } from './grpc.ts';
import type { NamedCall, Tasks } from './tasks.ts';

/** What the proxy does at a boundary call. Both say whether the call goes on. */
export interface Watcher {
  before(call: NamedCall, caller: ServerHttp2Stream, connection: Connection): Promise<boolean>;
  /** Only for a call that succeeded: one that failed made nothing durable. */
  after(call: NamedCall, caller: ServerHttp2Stream, connection: Connection): Promise<boolean>;
}

// Node's own 64 KB would make a worker's polls wait for each other's windows.
const settings = { initialWindowSize: 1024 * 1024 };

/** One worker's connection and its own connection to the frontend. */
export class Connection implements RunningLink {
  /** The worker's identity; empty until its first poll or answer. */
  client = '';
  readonly gate = new Gate();
  readonly #near: Socket;
  readonly #far: ClientHttp2Session;
  readonly #tasks: Tasks;
  readonly #watcher: Watcher;
  #inner: Socket | undefined;
  #session: ServerHttp2Session | undefined;

  constructor(near: Socket, upstream: string, tasks: Tasks, watcher: Watcher) {
    near.setNoDelay(true);
    this.#near = near;
    this.#tasks = tasks;
    this.#watcher = watcher;
    this.#far = http2.connect(`http://${upstream}`, { settings });
  }

  /** Relays calls until one end closes or breaks. Never rejects. */
  async run(): Promise<void> {
    const ends = [this.#near, this.#far].map((end) => this.#endOf(end));
    try {
      // HTTP/2 reads its socket below JavaScript and answers pings there. Only bytes that have to pass
      // between two sockets can be stopped. A stream in place of the second one would do, if Node did
      // not break off with an internal error when such a stream is destroyed in the middle of a write.
      const [inner, served] = await socketPair();
      this.#inner = inner;
      const session = http2.performServerHandshake(served.setNoDelay(true), { settings });
      this.#session = session;
      ends.push(this.#endOf(inner.setNoDelay(true)), this.#endOf(session));
      session.on('stream', (caller, headers) => this.#serve(caller, headers));
      if (this.gate.state === 'ended') this.destroy();
      const { gate } = this;
      await Promise.all([pump(gate, this.#near, inner), pump(gate, inner, this.#near)]);
    } catch {
      this.destroy();
    }
    await Promise.all(ends);
  }

  destroy(): void {
    this.gate.end();
    this.#near.destroy();
    this.#inner?.destroy();
    this.#session?.destroy();
    this.#far.destroy();
  }

  /** When one end is over, so are all. */
  #endOf(end: Socket | Http2Session): Promise<void> {
    end.on('error', () => this.destroy());
    return new Promise((resolve) => {
      end.once('close', () => {
        this.destroy();
        resolve();
      });
    });
  }

  #serve(caller: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // The code of a reset reaches the caller by itself.
    caller.on('error', () => {});
    this.#relay(caller, headers).catch(() => caller.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
  }

  async #relay(caller: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const rpc = rpcOf(headers[':path']);
    const body = await bodyOf(caller);
    const named = this.#read(rpc, messageIn(body));
    if (named && !(await this.#watcher.before(named, caller, this))) return;
    if (!(await this.gate.passage())) return;
    const answer = await call(this.#far, headers, body, caller);
    if (answer === undefined) return;
    if (answer.trailers['grpc-status'] === '0') {
      this.#tasks.learn(rpc, messageIn(answer.body));
      if (named && !(await this.#watcher.after(named, caller, this))) return;
    }
    if (!caller.closed) reply(caller, answer);
  }

  /** Names a boundary call, and the client by what it says about itself. */
  #read(rpc: string, message: Buffer): NamedCall | undefined {
    const facts = readBoundary(rpc, message);
    const identity = facts?.identity ?? readPoller(rpc, message);
    if (identity !== undefined && identity !== '') this.client = identity;
    return facts && this.#tasks.name(rpc, facts);
  }
}
