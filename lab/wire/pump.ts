import { once } from 'node:events';
import net from 'node:net';
import type { Socket } from 'node:net';
import type { Gate } from './link.ts';

/** What comes in on a socket. Without `destroyOnReturn: false` the end of one direction would close the other. */
export function chunksOf(socket: Socket): AsyncIterable<Buffer> {
  return socket.iterator({ destroyOnReturn: false });
}

/** Writes when the gate lets it, and waits until the receiver can take more; false when the connection is over. */
export async function pass(gate: Gate, to: Socket, pieces: Buffer[]): Promise<boolean> {
  if (pieces.length === 0) return true;
  if (!(await gate.passage()) || to.destroyed) return false;
  to.cork();
  const drained = pieces.map((bytes) => to.write(bytes)).at(-1);
  to.uncork();
  return drained === true || drain(to);
}

/** Forwards one direction as it is, its end included. */
export async function pump(gate: Gate, from: Socket, to: Socket): Promise<void> {
  for await (const chunk of chunksOf(from)) if (!(await pass(gate, to, [chunk]))) return;
  if (await gate.passage()) to.end();
}

/** Two connected sockets of this process. */
export async function socketPair(): Promise<[Socket, Socket]> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port to listen on');
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const ours = net.connect({ port: address.port, host: '127.0.0.1' });
  await once(ours, 'connect');
  const theirs = await accepted;
  server.close();
  // Another process could have been quicker to the port.
  if (theirs.remotePort !== ours.localPort) throw new Error('a stranger on an inner port');
  return [ours, theirs];
}

function drain(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = () => {
      socket.off('drain', settle).off('close', settle);
      resolve(!socket.destroyed);
    };
    socket.on('drain', settle).on('close', settle);
  });
}
