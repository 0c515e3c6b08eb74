import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPool } from '../../../queue/database.ts';
import { openTransport } from '../../../queue/transport/open.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { transportContract } from './contract-suite.ts';
import { findPgBouncer, HOW_TO_GET_IT, startPgBouncer } from './pgbouncer.ts';
import { until } from '../../support/until.ts';
import { receiveOne } from './support.ts';

const program = await findPgBouncer();

async function openBehindPgBouncer(warnings: string[]) {
  if (program === undefined) throw new Error(HOW_TO_GET_IT);
  const database = await freshDatabase();
  const pgBouncer = await startPgBouncer(program, database.url);
  const pool = openPool({ url: pgBouncer.url, applicationName: 'pooled', maxConnections: 20 });
  const transport = await openTransport({
    pool,
    profile: 'postgres',
    maxReceives: 3,
    listen: true,
    listener: { timeoutMs: 1_000 },
    log: {
      info: () => undefined,
      warn: (fields) => warnings.push('reason' in fields ? String(fields.reason) : ''),
    },
  });
  return {
    transport,
    db: pool,
    async close() {
      await transport.close();
      await pool.end();
      await pgBouncer.stop();
      await database.drop();
    },
  };
}

// Seen in node's counts: a machine without PgBouncer, whose user may not install it, leaves these out.
const skip = program === undefined && HOW_TO_GET_IT;

if (skip) test('the contract suite behind PgBouncer', { skip }, () => undefined);
else {
  transportContract('Postgres behind PgBouncer in transaction mode', () => openBehindPgBouncer([]));
}

test(
  'A14: behind a pooler in transaction mode it falls back to polling, says so, and loses nothing',
  { skip },
  async () => {
    const warnings: string[] = [];
    const opened = await openBehindPgBouncer(warnings);
    const { transport, db } = opened;
    try {
      const state = await until('a verdict', () =>
        transport.hints.state === 'connecting' ? undefined : transport.hints,
      );
      assert.equal(state.state, 'polling');
      assert.match(warnings.join(), /pooler in transaction mode/);
      const waiting = receiveOne(transport, 'orders');
      await transport.send(db, 'orders', [{ body: 'found by polling' }]);
      assert.equal((await waiting).body, 'found by polling');
    } finally {
      await opened.close();
    }
  },
);
