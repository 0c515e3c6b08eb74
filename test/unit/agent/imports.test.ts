import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

/** What a file imports by value, and what that imports. Packages by their name. */
async function reached(from: URL, seen = new Set<string>()): Promise<Set<string>> {
  if (seen.has(from.href)) return seen;
  seen.add(from.href);
  const source = await readFile(from, 'utf8');
  for (const [, target = ''] of source.matchAll(/^(?:im|ex)port (?!type )[^;]*?from '([^']+)'/gm)) {
    if (target.startsWith('.')) await reached(new URL(target, from), seen);
    else seen.add(target);
  }
  return seen;
}

test('the agent’s workflow has none of them either', async () => {
  const workflow = new URL('../../../workflows/agent/buying-agent.ts', import.meta.url);
  const packages = await reached(workflow);
  assert.deepEqual(
    [...packages].filter((each) => /^zod|^node:|^openai/.test(each)),
    [],
  );
  assert.ok(packages.has('@temporalio/workflow'), 'this test sees nothing');
});

test('the agent’s machine runs in a workflow: no schemas, whose rules change, and nothing of Node', async () => {
  const folder = new URL('../../../core/agent/', import.meta.url);
  for (const file of [
    'absorb.ts',
    'next.ts',
    'state.ts',
    'identity.ts',
    'answers.ts',
    'take-up.ts',
  ]) {
    const all = await reached(new URL(file, folder));
    const packages = [...all].filter((each) => !each.startsWith('file:'));
    assert.deepEqual(
      packages.filter((each) => !['big.js', 'currency-codes'].includes(each)),
      [],
    );
  }
  assert.ok((await reached(new URL('tools.ts', folder))).has('zod'), 'this test sees nothing');
});
