import { createServer, connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Proxy {
  url: string;
  /**
   * From now on the connection that said LISTEN carries nothing in either direction, and stays
   * open: what a firewall does that forgot it. Returns how many such connections there were.
   */
  freezeListener(): number;
  /** Slips an UNLISTEN into that connection, as a pooler that resets sessions would. */
  unlisten(): void;
  /** Cuts every connection. */
  cut(): void;
}

interface Link {
  client: Socket;
  server: Socket;
  listens: boolean;
  frozen: boolean;
  /** Until the answer to the slipped-in statement is over: the client must not see it. */
  swallowing: boolean;
}

/** A simple query in Postgres's protocol: its letter, the length of what follows, the text, a zero. */
function simpleQuery(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + text.length + 1);
  return Buffer.concat([Buffer.from('Q'), length, Buffer.from(`${text}\0`)]);
}

/** A wire to the Postgres at `url` that can go bad. */
export async function openProxy(t: TestContext, url: string): Promise<Proxy> {
  const target = new URL(url);
  const links = new Set<Link>();
  const gate = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const link: Link = { client, server, listens: false, frozen: false, swallowing: false };
    links.add(link);
    client.on('data', (data) => {
      link.listens ||= data.includes('LISTEN q2t');
      if (!link.frozen) server.write(data);
    });
    server.on('data', (data) => {
      if (link.swallowing) {
        // ReadyForQuery ends every answer: Z and five bytes.
        link.swallowing = data.at(-6) !== 'Z'.charCodeAt(0);
        return;
      }
      if (!link.frozen) client.write(data);
    });
    for (const [end, other] of [
      [client, server],
      [server, client],
    ] as const) {
      end.on('error', () => undefined);
      end.on('close', () => {
        links.delete(link);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const { client } of links) client.destroy();
  };
  t.after(() => {
    cut();
    gate.close();
  });
  const address = gate.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const through = new URL(url);
  through.port = String(address.port);
  return {
    url: through.href,
    freezeListener() {
      const listening = [...links].filter((link) => link.listens && !link.frozen);
      for (const link of listening) link.frozen = true;
      return listening.length;
    },
    unlisten() {
      for (const link of links) {
        if (!link.listens) continue;
        link.swallowing = true;
        link.server.write(simpleQuery('UNLISTEN *'));
      }
    },
    cut,
  };
}
