import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import type { Up } from '../../client/up-file.ts';

/** A model of the user's own, which refuses whatever it is asked for. */
export interface OwnModel {
  /** What `up` is given. */
  env: Record<string, string>;
  key: string;
  host: string;
  /** Every Authorization header it was sent. */
  authorizations: string[];
  /** How often it was asked for a request. */
  askedFor(requestRef: string): number;
  close(): Promise<void>;
}

export async function startOwnModel(t: TestContext): Promise<OwnModel> {
  const authorizations: string[] = [];
  const keys: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then(() => {
      authorizations.push(request.headers.authorization ?? 'none');
      keys.push(String(request.headers['x-effect-key']));
      const refuse = { name: 'refuse', arguments: '{"reason":"nobody has it"}' };
      const message = { content: null, tool_calls: [{ id: 'call_0', function: refuse }] };
      const choices = [{ finish_reason: 'tool_calls', message }];
      const usage = { prompt_tokens: 100, completion_tokens: 10 };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices, usage }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.after(close);
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = 'sk-a-secret-of-ours';
  return {
    env: {
      OPENAI_BASE_URL: `http://${host}/v1`,
      OPENAI_API_KEY: key,
      AGENT_MODEL: 'qwen3',
      AGENT_PRICE_EUR_PER_MILLION_TOKENS: '0/0',
    },
    key,
    host,
    authorizations,
    askedFor: (requestRef) => keys.filter((each) => each.includes(`/${requestRef}/`)).length,
    close,
  };
}

/** Every row of every table that is not Postgres' own, as text. */
export async function everyRow(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `SELECT each::text AS row FROM ${name} AS each`,
      );
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}

/** Every payload of every history, as text. */
export async function everyHistory({ temporalAddress, namespace }: Up): Promise<string> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const { workflow } = new Client({ connection, namespace });
    const texts: string[] = [];
    for await (const { workflowId, runId } of workflow.list()) {
      const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
      texts.push(...textsIn(events));
    }
    return texts.join('\n');
  } finally {
    await connection.close();
  }
}

function textsIn(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The files below a folder that have these words in them. One that goes away meanwhile has not. */
export async function filesWith(folder: string, words: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const found: string[] = [];
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name);
    const content = await readFile(file).catch(() => Buffer.alloc(0));
    if (content.includes(words)) found.push(file);
  }
  return found;
}
