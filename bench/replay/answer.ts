import type { Client } from '@temporalio/client';
import { decideUpdate } from '../../workflows/definitions.ts';

/** Gives a run an answer to a question that it has not asked: one workflow task, no activity, and the run waits on. */
export async function answer(client: Client, workflowId: string): Promise<void> {
  const wrong = { gate: 'none', gateVersion: 1, decision: 'approve', by: 'bench' } as const;
  await client.workflow.getHandle(workflowId).executeUpdate(decideUpdate, { args: [wrong] });
}
