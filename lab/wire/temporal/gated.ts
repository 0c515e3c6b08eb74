import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Gate } from '../link.ts';

/**
 * A socket that a gate can stop. HTTP/2 reads a real socket below JavaScript, and answers pings there:
 * only what it takes for a stream can be made to fall silent.
 */
export class GatedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #gate: Gate;

  constructor(socket: Socket, gate: Gate) {
    super();
    this.#socket = socket;
    this.#gate = gate;
    socket.pause();
    socket.on('data', (chunk: Buffer) => {
      socket.pause();
      void gate.passage().then((open) => {
        if (open && this.push(chunk)) socket.resume();
      });
    });
    socket.on('end', () => {
      void gate.passage().then((open) => open && this.push(null));
    });
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    void this.#gate.passage().then((open) => {
      if (open && !this.#socket.destroyed) this.#socket.write(chunk, done);
      else done(new Error('the connection is over'));
    });
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
