import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

/** A wire to Postgres that can stop carrying anything, in both directions, while it stays open. */
export interface HalfOpenWire {
  url: string;
  freeze(): void;
  /** Closes what was frozen, as the other end would after a while; new connections carry again. */
  thaw(): void;
  close(): Promise<void>;
}

export async function openHalfOpenWire(databaseUrl: string): Promise<HalfOpenWire> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let frozen = false;
  const gate = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => {
        if (!frozen) to.write(data);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  const address = gate.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    freeze() {
      frozen = true;
    },
    thaw() {
      frozen = false;
      destroyAll();
    },
    async close() {
      destroyAll();
      await new Promise((resolve) => gate.close(resolve));
    },
  };
}
