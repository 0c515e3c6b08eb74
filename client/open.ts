import type { Implementation, Pipeline } from '../core/contract.ts';
import { CommandError, messageOf } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import type { TemporalTarget } from './own-parts.ts';
import { maskUrl } from './target.ts';
import type { Target } from './target.ts';

/** How long a server may take to answer a connection, the same for both. */
const CONNECT_WITHIN_MS = 4_000;

/** Opens `implementation` at the target resolved for it. Throws a CommandError that a user can act on. */
export async function open(implementation: Implementation, target: Target): Promise<Pipeline> {
  if (implementation === 'temporal' && target.kind === 'temporal') {
    return openTemporalAt(target.temporal, target.taskQueue);
  }
  if (implementation !== 'temporal' && target.kind === 'database') {
    return openOnDatabase(implementation, target.databaseUrl);
  }
  throw new TypeError(`${implementation} can't be opened at a ${target.kind} target`);
}

async function openTemporalAt(
  { address, namespace, options }: TemporalTarget,
  taskQueue: string,
): Promise<Pipeline> {
  const { openTemporal } = await import('./pipelines/temporal.ts');
  try {
    return await openTemporal({ connection: options, namespace, taskQueue });
  } catch (error) {
    const message = `Temporal can't be reached at ${address} (${messageOf(error)}).`;
    throw new CommandError(EXIT.unexpected, message, {
      hint: 'Is it running? `npm run up` starts everything here; TEMPORAL_ADDRESS names another server.',
      cause: error,
    });
  }
}

async function openOnDatabase(
  implementation: 'queue' | 'chain',
  databaseUrl: string,
): Promise<Pipeline> {
  await knock(databaseUrl);
  try {
    if (implementation === 'queue') {
      const { openQueue } = await import('../queue/open.ts');
      return await openQueue({ databaseUrl });
    }
    const { openChain } = await import('../queue/chain/open.ts');
    return await openChain({ databaseUrl });
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
