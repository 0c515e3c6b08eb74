import { pino } from 'pino';
import { z } from 'zod';
import { connectPartners } from '../partners/clients/connect.ts';
import { CHAIN_QUEUE, handleLink } from '../queue/chain/handle.ts';
import { openPool } from '../queue/database.ts';
import { migrate } from '../queue/migrations/migrate.ts';
import { openTransport } from '../queue/transport/open.ts';
import { consume } from '../queue/worker/consume.ts';

/**
 * A worker of the chain as a process: DATABASE_URL, PARTNERS_URL, Q2T_CHAIN (links at the same time),
 * Q2T_VISIBILITY_MS (longer than any step takes: nothing extends it). Prints {"msg":"ready"}.
 */
const environment = z.object({
  DATABASE_URL: z.string().min(1),
  PARTNERS_URL: z.url(),
  Q2T_CHAIN: z.coerce.number().int().min(1).max(1_000).default(8),
  Q2T_VISIBILITY_MS: z.coerce.number().int().min(1).default(30_000),
});

const log = pino();
const parsed = environment.safeParse(process.env);
if (!parsed.success) {
  log.fatal(z.prettifyError(parsed.error));
  process.exit(2);
}
const { DATABASE_URL, PARTNERS_URL, Q2T_CHAIN, Q2T_VISIBILITY_MS } = parsed.data;

await migrate(DATABASE_URL);
const pool = openPool({
  url: DATABASE_URL,
  applicationName: 'q2t-chain-worker',
  maxConnections: Q2T_CHAIN + 2,
});
const transport = await openTransport({ pool, profile: 'postgres', listen: true, log });
const partners = connectPartners({ baseUrl: PARTNERS_URL });
const stopping = new AbortController();
const consuming = consume({
  transport,
  queue: CHAIN_QUEUE,
  concurrency: Q2T_CHAIN,
  visibilityMs: Q2T_VISIBILITY_MS,
  waitMs: 5_000,
  handle: (message) => handleLink({ pool, transport, partners }, message),
  stop: stopping.signal,
  log,
});
log.info('ready');

async function stop(): Promise<void> {
  stopping.abort();
  await consuming;
  await partners.close();
  await transport.close();
  await pool.end();
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void stop().then(() => log.info('stopped')));
}
