import pg from 'pg';
import { bundleWorkflows } from '../stack/parts.ts';
import { startStack, type Stack } from '../stack/stack.ts';

/** One Postgres, one Temporal server and one workflow bundle for the whole run; every test file takes its own database and task queue there. */
let stack: Stack | undefined;

export async function globalSetup(): Promise<void> {
  // Every Temporal server of the run collects its garbage less often: memory there is, two cores are few.
  process.env['GOGC'] ??= '300';
  stack = await startStack({ parts: ['postgres', 'temporal'] });
  await forgetOnPowerCut(stack.postgres.urlOf('postgres'));
  const bundle = await bundleWorkflows(stack.dataDir);
  // Test files run as children of this process.
  process.env['Q2T_TEST_DATABASE_URL'] = stack.postgres.urlOf('postgres');
  process.env['Q2T_TEST_TEMPORAL'] = stack.temporal.address;
  process.env['Q2T_TEST_BUNDLE'] = bundle;
}

export async function globalTeardown(): Promise<void> {
  await stack?.stop();
}

/**
 * Nothing of this server outlives the run, and a test that kills Postgres starts its own. Without waiting
 * for the disk, a database (each drop is a checkpoint) costs a fraction. `synchronous_commit` stays as it is.
 */
async function forgetOnPowerCut(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query('ALTER SYSTEM SET fsync = off');
    await admin.query('ALTER SYSTEM SET full_page_writes = off');
    await admin.query('SELECT pg_reload_conf()');
  } finally {
    await admin.end();
  }
}
