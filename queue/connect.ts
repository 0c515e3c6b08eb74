import type { Pool } from 'pg';
import { openPool } from './database.ts';
import type { PoolSettings } from './database.ts';
import { migrate } from './migrations/migrate.ts';
import type { ProfileName } from './transport/limits.ts';
import { openTransport } from './transport/open.ts';
import type { OpenTransport, TransportSettings } from './transport/open.ts';

export interface Connected {
  pool: Pool;
  transport: OpenTransport;
  /** Closes the transport, then the pool under it. */
  close: () => Promise<void>;
}

/** Opens a pool and the transport on it. Throws as `openTransport` does, and leaves nothing open then. */
export async function connect(
  pooling: PoolSettings,
  settings: Omit<TransportSettings, 'pool'>,
): Promise<Connected> {
  const pool = openPool(pooling);
  try {
    const transport = await openTransport({ pool, ...settings });
    return {
      pool,
      transport,
      close: async () => {
        await transport.close();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Where the hand-built implementation is, for a client of it. */
export interface QueueTarget {
  databaseUrl: string;
  /** Noted as who looked at the dead letters. Default: the user of this process. */
  user?: string;
  /** What the transport allows; as the workers have it. Default `postgres`. */
  profile?: ProfileName;
}

/** Brings the database up to date, then connects. Throws what `pg` throws when it can't be reached. */
export async function connectClient(
  { databaseUrl: url, profile = 'postgres' }: QueueTarget,
  applicationName: string,
): Promise<Connected> {
  await migrate(url);
  return connect({ url, applicationName, maxConnections: 5 }, { profile });
}
