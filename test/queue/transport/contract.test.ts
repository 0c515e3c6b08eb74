import { openPool } from '../../../queue/database.ts';
import { openTransport, type TransportSettings } from '../../../queue/transport/open.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { transportContract, type ContractHarness } from './contract-suite.ts';

async function openOnPostgres(settings: Partial<TransportSettings>): Promise<ContractHarness> {
  const database = await freshDatabase();
  const pool = openPool({ url: database.url, applicationName: 'contract', maxConnections: 20 });
  const transport = await openTransport({
    pool,
    profile: 'postgres',
    maxReceives: 3,
    ...settings,
  });
  return {
    transport,
    db: pool,
    async close() {
      await transport.close();
      await pool.end();
      await database.drop();
    },
  };
}

transportContract('Postgres, listening for hints', () => openOnPostgres({ listen: true }));
transportContract('Postgres, polling only', () => openOnPostgres({ listen: false }));
transportContract('Postgres within the limits of SQS', () => openOnPostgres({ profile: 'sqs' }));
