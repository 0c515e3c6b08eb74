import type { Socket } from 'node:net';
import type { Commit } from './session.ts';
import { Gate } from '../link.ts';
import { chunksOf, pass } from '../pump.ts';
import type { RunningLink } from '../wire.ts';
import { Splitter } from './messages.ts';
import { Session } from './session.ts';
import { readStartup } from './startup.ts';

/** What the proxy does when a connection reaches a commit. Both say whether the connection goes on. */
export interface Watcher {
  /** True while a fault waits, so that commits have to be looked at before they are passed on. */
  readonly watching: boolean;
  before(commit: Commit, connection: Connection): Promise<boolean>;
  after(commit: Commit, connection: Connection): Promise<boolean>;
}

/** One client's connection and its twin to the server; what comes in at one end goes out at the other. */
export class Connection implements RunningLink {
  /** The application name; empty until startup has passed, and when there is none. */
  client = '';
  readonly gate = new Gate();
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #watcher: Watcher;
  readonly #session = new Session();
  #phase: 'startup' | 'messages' | 'raw' = 'startup';

  constructor(near: Socket, far: Socket, watcher: Watcher) {
    this.#near = near;
    this.#far = far;
    this.#watcher = watcher;
    for (const socket of [near, far]) socket.setNoDelay(true);
  }

  /** Forwards until one end closes or breaks. Never rejects. */
  async run(): Promise<void> {
    const closed = [this.#near, this.#far].map((socket) => {
      socket.on('error', () => this.destroy());
      return new Promise<void>((resolve) => socket.once('close', () => resolve()));
    });
    const broken = () => this.destroy();
    await Promise.all([this.#upwards().catch(broken), this.#downwards().catch(broken), ...closed]);
    this.gate.end();
  }

  destroy(): void {
    this.gate.end();
    this.#session.end();
    this.#near.destroy();
    this.#far.destroy();
  }

  async #upwards(): Promise<void> {
    const splitter = new Splitter();
    let begun = Buffer.alloc(0);
    for await (const chunk of chunksOf(this.#near)) {
      begun = Buffer.concat([begun, chunk]);
      if (this.#phase === 'startup') begun = await this.#start(begun);
      if (this.#phase === 'startup') continue;
      const data = begun;
      begun = Buffer.alloc(0);
      const passed =
        this.#phase === 'raw' ? this.#pass(this.#far, [data]) : this.#ask(splitter, data);
      if (!(await passed)) return;
    }
    this.#far.end();
  }

  /** Reads startup messages off the front of `data`; returns what is still to be read or passed on. */
  async #start(data: Buffer<ArrayBuffer>): Promise<Buffer<ArrayBuffer>> {
    const startup = readStartup(data);
    switch (startup.kind) {
      case 'incomplete':
        return data;
      case 'encryption':
        this.#near.write('N');
        return this.#start(data.subarray(startup.length));
      case 'cancel':
        this.#phase = 'raw';
        return data;
      case 'session': {
        this.client = startup.application;
        this.#phase = 'messages';
        const length = data.readInt32BE(0);
        await this.#pass(this.#far, [data.subarray(0, length)]);
        return data.subarray(length);
      }
    }
  }

  async #ask(splitter: Splitter, data: Buffer): Promise<boolean> {
    const out: Buffer[] = [];
    for (const piece of splitter.push(data)) {
      const watching = this.#watcher.watching && (piece.type === 'Q' || piece.type === 'E');
      if (watching) {
        // A pipelined statement's effect depends on those before it: pass them on, wait for the answers.
        if (!(await this.#pass(this.#far, out.splice(0)))) return false;
        await this.#session.settled();
      }
      const commit = this.#session.fromClient(piece);
      if (watching && commit !== undefined && !(await this.#watcher.before(commit, this)))
        return false;
      out.push(piece.bytes);
    }
    return this.#pass(this.#far, out);
  }

  async #downwards(): Promise<void> {
    const splitter = new Splitter();
    // A statement's answer travels with the ReadyForQuery behind it, which alone says what it came to.
    const held: Buffer[] = [];
    for await (const chunk of chunksOf(this.#far)) {
      const out: Buffer[] = [];
      for (const piece of splitter.push(chunk)) {
        const early = this.#session.isEarlyAnswer(piece);
        const commit = this.#session.fromServer(piece);
        if (commit !== undefined && !(await this.#watcher.after(commit, this))) return;
        held.push(piece.bytes);
        if (!early) out.push(...held.splice(0));
      }
      if (!(await this.#pass(this.#near, out))) return;
    }
    await this.#pass(this.#near, held);
    this.#near.end();
  }

  #pass(to: Socket, pieces: Buffer[]): Promise<boolean> {
    return pass(this.gate, to, pieces);
  }
}
