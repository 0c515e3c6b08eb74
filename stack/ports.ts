import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the range from which systems take ports for outgoing connections: a server that was killed must
 * find its port free when it comes back.
 */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
const TRIES = 100;

/** A port on which nothing listens on loopback at this moment. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT}`);
}

/** Whether 127.0.0.1:port can be listened on. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
