import { openPool } from '../../queue/database.ts';
import { migrate } from '../../queue/migrations/migrate.ts';
import { openTransport, type OpenTransport } from '../../queue/transport/open.ts';
import { connectionsFor, type Contender, type Job, type Mode } from './contender.ts';

const QUEUE = 'bench';

/** queue/transport, as the project's own workers use it. */
export const ours = contender('ours', { flushClaims: false });

/** The same with a flush to disk for every claim too, as the other two do it. */
export const oursFlushed = contender('ours, flushed claims', { flushClaims: true });

function contender(name: string, settings: { flushClaims: boolean }): Contender {
  return {
    name,
    hotTables: ['queue.message'],
    async install(url) {
      await migrate(url);
    },
    async open(url, mode) {
      const maxConnections = connectionsFor(mode);
      const pool = openPool({ url, applicationName: 'bench', maxConnections });
      const transport = await openTransport({
        pool,
        profile: 'postgres',
        listen: true,
        ...settings,
      });
      return {
        async send(jobs) {
          await transport.send(
            pool,
            QUEUE,
            jobs.map((body) => ({ body })),
          );
        },
        work: (_style, onStart) => work(transport, mode, onStart),
        async close() {
          await transport.close();
          await pool.end();
        },
      };
    },
  };
}

function work(transport: OpenTransport, mode: Mode, onStart: (job: Job) => void) {
  const stopping = new AbortController();
  const loops = Array.from({ length: mode.workers }, () =>
    workLoop(transport, mode, onStart, stopping.signal),
  );
  return Promise.resolve({
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  });
}

async function workLoop(
  transport: OpenTransport,
  { batch }: Mode,
  onStart: (job: Job) => void,
  signal: AbortSignal,
): Promise<void> {
  const options = { max: batch, visibilityMs: 60_000, waitMs: 5_000, signal };
  while (!signal.aborted) {
    const messages = await transport.receive(QUEUE, options);
    // The bench sent it: a Job.
    for (const message of messages) onStart(message.body as Job);
    const receipts = messages.map((message) => message.receipt);
    const [receipt] = receipts;
    if (receipts.length > 1) await transport.ackMany(QUEUE, receipts);
    else if (receipt !== undefined) await transport.ack(QUEUE, receipt);
  }
}
