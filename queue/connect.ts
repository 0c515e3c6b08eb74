import type { Pool } from 'pg';
import { openPool } from './database.ts';
import type { PoolSettings } from './database.ts';
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
