import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { format, resolveConfig } from 'prettier';
import { reportAgents, tableOfAgents } from '../../bench/agents/report.ts';
import type { AgentsResult } from '../../bench/agents/run.ts';
import { projectRoot } from '../../stack/runtime.mjs';

const inDocs = (file: string) => join(projectRoot, 'docs', file);

async function asMarkdown(text: string): Promise<string> {
  const options = await resolveConfig(inDocs('agent.md'));
  return format(text, { ...options, parser: 'markdown' });
}

test('the figures of docs/agent.md, and their page, are those that the bench wrote', async () => {
  const kept = JSON.parse(await readFile(inDocs('measured/agents.json'), 'utf8')) as AgentsResult;
  const page = await readFile(inDocs('measured/agents.md'), 'utf8');
  assert.equal(page, `${reportAgents(kept)}\n`, 'run `npm run bench -- agents` again');
  const doc = await readFile(inDocs('agent.md'), 'utf8');
  const [, shown = ''] = /<!-- measured -->\n([\s\S]*)<!-- \/measured -->/.exec(doc) ?? [];
  const table = await asMarkdown(tableOfAgents(kept));
  assert.equal(shown.trim(), table.trim(), 'put the table of docs/measured/agents.md there');
});
