import type { AgentPipeline } from '../core/agent/contract.ts';
import type { Implementation, Pipeline } from '../core/contract.ts';
import type { QueueTarget } from '../queue/connect.ts';
import { CommandError, messageOf } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import type { TemporalTarget } from './own-parts.ts';
import type { TemporalOptions } from './pipelines/temporal.ts';
import { maskUrl } from './target.ts';
import type { Target } from './target.ts';

/** How long a server may take to answer a connection, the same for both. */
const CONNECT_WITHIN_MS = 4_000;

/** Opens `implementation` at the target resolved for it. Throws a CommandError that a user can act on. */
export async function open(implementation: Implementation, target: Target): Promise<Pipeline> {
  return openWith<Pipeline>(implementation, target, {
    temporal: async (options) => (await import('./pipelines/temporal.ts')).openTemporal(options),
    queue: async (at) => (await import('../queue/open.ts')).openQueue(at),
    chain: async (at) => (await import('../queue/chain/open.ts')).openChain(at),
  });
}

/** The same for the buying agent. */
export async function openAgent(
  implementation: Implementation,
  target: Target,
): Promise<AgentPipeline> {
  return openWith<AgentPipeline>(implementation, target, {
    temporal: async (options) => {
      return (await import('./pipelines/temporal/agent.ts')).openTemporalAgent(options);
    },
    queue: async (at) => (await import('../queue/agent/open.ts')).openQueueAgent(at),
    chain: async (at) => (await import('../queue/chain/agent/open.ts')).openChainAgent(at),
  });
}

/** How each is opened; the code of one is loaded when it is that one's turn. */
interface Openings<P> {
  temporal: (options: TemporalOptions) => Promise<P>;
  queue: (at: QueueTarget) => Promise<P>;
  chain: (at: QueueTarget) => Promise<P>;
}

async function openWith<P>(
  implementation: Implementation,
  target: Target,
  openings: Openings<P>,
): Promise<P> {
  if (implementation === 'temporal' && target.kind === 'temporal') {
    return openTemporalAt(target.temporal, target.taskQueue, openings);
  }
  if (implementation !== 'temporal' && target.kind === 'database') {
    return openOnDatabase(openings[implementation], target.databaseUrl);
  }
  throw new TypeError(`${implementation} can't be opened at a ${target.kind} target`);
}

async function openTemporalAt<P>(
  { address, namespace, options }: TemporalTarget,
  taskQueue: string,
  { temporal }: Openings<P>,
): Promise<P> {
  try {
    return await temporal({ connection: options, namespace, taskQueue });
  } catch (error) {
    const message = `Temporal can't be reached at ${address} (${messageOf(error)}).`;
    throw new CommandError(EXIT.unexpected, message, {
      hint: 'Is it running? `npm run up` starts everything here; TEMPORAL_ADDRESS names another server.',
      cause: error,
    });
  }
}

async function openOnDatabase<P>(opening: Openings<P>['queue'], databaseUrl: string): Promise<P> {
  await knock(databaseUrl);
  try {
    return await opening({ databaseUrl });
  } catch (error) {
    const message = `The database at ${maskUrl(databaseUrl)} can't be used (${messageOf(error)}).`;
    throw new CommandError(EXIT.unexpected, message, {
      hint: 'Its user must be allowed to create the schema `queue` and to write in it.',
      cause: error,
    });
  }
}

/** One connection with a limit: what opens the pipelines waits for as long as a worker would. */
async function knock(databaseUrl: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'q2t',
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
  });
  // What breaks after this is for the pipeline to find.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
  } catch (error) {
    const message = `Postgres can't be reached at ${maskUrl(databaseUrl)} (${messageOf(error)}).`;
    throw new CommandError(EXIT.unexpected, message, {
      hint: 'Is it running? `npm run up` starts everything here; DATABASE_URL names another database.',
      cause: error,
    });
  }
}
