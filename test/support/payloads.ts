import type { Client } from '@temporalio/client';
import type { Pool } from 'pg';

/** The size of the biggest payload in the history of a workflow, in bytes: inputs, results, memos, failures. */
export async function biggestPayload(client: Client, workflowId: string): Promise<number> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return biggestIn(events);
}

function biggestIn(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(biggestIn));
}

/** The size of the biggest row in any table of the queue, messages included, in bytes of its text. */
export async function biggestRow(pool: Pool): Promise<number> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'queue'`,
  );
  const sizes = tables.map(async ({ name }) => {
    const { rows } = await pool.query<{ bytes: number | null }>(
      `SELECT max(octet_length(each::text)) AS bytes FROM ${name} AS each`,
    );
    return rows[0]?.bytes ?? 0;
  });
  return Math.max(0, ...(await Promise.all(sizes)));
}

/** What a model says that is megabytes too long, and a use of a tool with it: the body of its answer. */
export const ENDLESS_ANSWER = {
  choices: [
    {
      finish_reason: 'tool_calls',
      message: {
        content: 'x'.repeat(4_000_000),
        tool_calls: [
          {
            id: 'call_0',
            function: { name: 'search_catalogue', arguments: '{"query":"office chairs"}' },
          },
        ],
      },
    },
  ],
  usage: { prompt_tokens: 500, completion_tokens: 500 },
};

/** What a supplier's catalogue shows: as much as a client reads of it. */
export const ENDLESS_CATALOGUE = {
  articles: [
    {
      supplierId: 'sup_881',
      supplierName: 'Van Dijk Kantoor',
      sku: 'OFFICE-CHAIRS-1',
      name: 'office chairs, model 1',
      unit: 'NAR',
      description: 'y'.repeat(900_000),
    },
  ],
};
/** Far below every limit: 256 KB of a message, 2 MB of a payload. */
export const SMALL_BYTES = 64_000;
