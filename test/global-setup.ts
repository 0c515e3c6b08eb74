import { startStack, type Stack } from '../stack/stack.ts';
import { bundleWorkflows } from '../stack/parts.ts';

/** One Postgres, one Temporal server and one workflow bundle for the whole run; every test file takes its own database and task queue there. */
let stack: Stack | undefined;

export async function globalSetup(): Promise<void> {
  stack = await startStack({ parts: ['postgres', 'temporal'] });
  const bundle = await bundleWorkflows(stack.dataDir);
  // Test files run as children of this process.
  process.env['Q2T_TEST_DATABASE_URL'] = stack.postgres.urlOf('postgres');
  process.env['Q2T_TEST_TEMPORAL'] = stack.temporal.address;
  process.env['Q2T_TEST_BUNDLE'] = bundle;
}

export async function globalTeardown(): Promise<void> {
  await stack?.stop();
}
