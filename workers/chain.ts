import { pino } from 'pino';
import { z } from 'zod';
import { connectPartners } from '../partners/clients/connect.ts';
import { connectModel } from '../partners/clients/model.ts';
import { modelEnvironment } from '../partners/clients/model-settings.ts';
import { CHAIN_AGENTS_QUEUE, handleTurn } from '../queue/chain/agent/handle.ts';
import { CHAIN_QUEUE, handleLink } from '../queue/chain/handle.ts';
import { connect } from '../queue/connect.ts';
import { migrate } from '../queue/migrations/migrate.ts';
import { PROFILE_NAMES } from '../queue/transport/limits.ts';
import { consume } from '../queue/worker/consume.ts';
import { readSettings } from './settings.ts';

/**
 * A worker of the chain as a process: DATABASE_URL (behind a pooler also Q2T_MIGRATIONS_URL),
 * PARTNERS_URL, Q2T_TRANSPORT_PROFILE, Q2T_CHAIN (links at the same time, of orders and of agents),
 * Q2T_VISIBILITY_MS and, for agents, Q2T_AGENT_VISIBILITY_MS (longer than any step takes: nothing extends
 * it); OPENAI_BASE_URL and OPENAI_API_KEY for a model of one's own. Prints {"msg":"ready"}.
 */
const environment = z.object({
  DATABASE_URL: z.string().min(1),
  Q2T_MIGRATIONS_URL: z.string().min(1).optional(),
  PARTNERS_URL: z.url(),
  Q2T_TRANSPORT_PROFILE: z.enum(PROFILE_NAMES).default('postgres'),
  Q2T_CHAIN: z.coerce.number().int().min(1).max(1_000).default(8),
  Q2T_VISIBILITY_MS: z.coerce.number().int().min(1).default(30_000),
  /** A model may take a minute. */
  Q2T_AGENT_VISIBILITY_MS: z.coerce.number().int().min(1).default(90_000),
});

const log = pino();
const settings = readSettings(environment, log);
const { DATABASE_URL, Q2T_MIGRATIONS_URL, PARTNERS_URL, Q2T_CHAIN } = settings;
const modelSettings = readSettings(modelEnvironment, log);

await migrate(Q2T_MIGRATIONS_URL ?? DATABASE_URL);
const { pool, transport, close } = await connect(
  { url: DATABASE_URL, applicationName: 'q2t-chain-worker', maxConnections: Q2T_CHAIN + 2 },
  { profile: settings.Q2T_TRANSPORT_PROFILE, listen: true, log },
);
const partners = connectPartners({ baseUrl: PARTNERS_URL });
const model = connectModel(modelSettings);
const stopping = new AbortController();
const common = { transport, concurrency: Q2T_CHAIN, waitMs: 5_000, stop: stopping.signal, log };
const consuming = Promise.all([
  consume({
    ...common,
    queue: CHAIN_QUEUE,
    visibilityMs: settings.Q2T_VISIBILITY_MS,
    handle: (message) => handleLink({ pool, transport, partners }, message),
  }),
  consume({
    ...common,
    queue: CHAIN_AGENTS_QUEUE,
    visibilityMs: settings.Q2T_AGENT_VISIBILITY_MS,
    handle: (message) => handleTurn({ pool, transport, partners, model }, message),
  }),
]);
log.info('ready');

async function stop(): Promise<void> {
  stopping.abort();
  await consuming;
  await partners.close();
  await model.close();
  await close();
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void stop().then(() => log.info('stopped')));
}
