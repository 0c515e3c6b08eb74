import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('../..', import.meta.url));

// The project's own configuration. Only the rules that need types are off: the snippets are not files of the project.
const eslint = new ESLint({
  cwd: root,
  overrideConfig: [{ files: ['**/*.ts'], ...tseslint.configs.disableTypeChecked }],
});

async function rulesBroken(filePath: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath });
  return (result?.messages ?? []).map((message) => message.ruleId ?? message.message);
}

const unused = '@typescript-eslint/no-unused-vars';
const refused = [
  [
    'a workflow importing an activity by value',
    'workflows/x.ts',
    `import { charge } from '../activities/charge.ts'; charge();`,
    'q2t/import-direction',
  ],
  [
    'a workflow re-exporting an activity',
    'workflows/x.ts',
    `export * from '../activities/charge.ts';`,
    'q2t/import-direction',
  ],
  [
    'a Node built-in in a workflow',
    'workflows/x.ts',
    `import fs from 'node:fs'; fs.statSync('/');`,
    'q2t/import-direction',
  ],
  [
    'a Node built-in without its prefix',
    'workflows/x.ts',
    `import fs from 'fs'; fs.statSync('/');`,
    'q2t/import-direction',
  ],
  ['a dynamic import of one', 'workflows/x.ts', `await import('node:fs');`, 'q2t/import-direction'],
  [
    'a partner’s client in a turn of the agent',
    'agent/x.ts',
    `import { connectModel } from '../partners/clients/model.ts'; connectModel();`,
    'q2t/import-direction',
  ],
  [
    'the engine in the hand-built queue',
    'queue/x.ts',
    `import { sleep } from '@temporalio/workflow'; await sleep(1);`,
    'q2t/import-direction',
  ],
  [
    'its types, even',
    'queue/x.ts',
    `import type { Client } from '@temporalio/client'; export type C = Client;`,
    'q2t/import-direction',
  ],
  [
    'a partner in core',
    'core/x.ts',
    `export { connectPartners } from '../partners/index.ts';`,
    'q2t/import-direction',
  ],
  [
    'a parser where workflows import from',
    'core/order/x.ts',
    `import sax from 'saxes'; sax.parse();`,
    'q2t/import-direction',
  ],
  [
    'a variable that outlives a run in workflows/',
    'workflows/x.ts',
    `export let runs = 0; runs += 1;`,
    'workflow/no-module-state',
  ],
  [
    'a cache in workflows/',
    'workflows/x.ts',
    `export const cache = new Map<string, string>();`,
    'workflow/no-module-state',
  ],
  [
    'a mutable list in workflows/',
    'workflows/x.ts',
    `export const seen: string[] = [];`,
    'workflow/no-module-state',
  ],
  [
    'an activity proxy without a retry policy',
    'workflows/x.ts',
    `import { proxyActivities } from '@temporalio/workflow'; export const run = () => proxyActivities({ startToCloseTimeout: 1, cancellationType: 'ABANDON' });`,
    'workflow/explicit-activity-options',
  ],
  [
    'an endless retry policy',
    'workflows/x.ts',
    `import { proxyActivities } from '@temporalio/workflow'; export const run = () => proxyActivities({ startToCloseTimeout: 1, cancellationType: 'ABANDON', retry: { backoffCoefficient: 2 } });`,
    'workflow/explicit-activity-options',
  ],
] as const;

suite('lint refuses', () => {
  for (const [what, file, code, rule] of refused) {
    test(what, async () => {
      assert.deepEqual(
        (await rulesBroken(file, code)).filter((id) => id !== unused),
        [rule],
      );
    });
  }
});

const allowed = [
  [
    'the types of activities in a workflow',
    'workflows/x.ts',
    `import type { Activities } from '../activities/index.ts'; export type A = Activities;`,
  ],
  ['core in a workflow', 'workflows/x.ts', `export { STEPS } from '../core/steps.ts';`],
  [
    'a constant table in workflows/',
    'workflows/x.ts',
    `export const GATES = ['approval'] as const;`,
  ],
  ['pg in the queue', 'queue/x.ts', `export { Pool } from 'pg';`],
] as const;

suite('lint allows', () => {
  for (const [what, file, code] of allowed) {
    test(what, async () => assert.deepEqual(await rulesBroken(file, code), []));
  }
});

test('lint refuses an un-awaited promise', async (t) => {
  // Needs types, so the snippet stands in for a file that the project has; of a project with no other.
  const dir = await mkdtemp(join(tmpdir(), 'q2t-lint-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const filePath = join(root, 'core/steps.ts');
  const project = join(dir, 'tsconfig.json');
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    include: [],
    files: [filePath],
  };
  await writeFile(project, JSON.stringify(settings));
  // With CI set the parser takes the program for one that reads files once, and would not see the snippet.
  const parserOptions = {
    projectService: false,
    project,
    disallowAutomaticSingleRunInference: true,
  };
  const typed = new ESLint({
    cwd: root,
    overrideConfig: { languageOptions: { parserOptions } },
  });
  const [result] = await typed.lintText(
    'async function effect() {}\nexport const run = () => { effect(); };',
    { filePath },
  );
  assert.deepEqual(
    result?.messages.map((message) => message.ruleId),
    ['@typescript-eslint/no-floating-promises'],
  );
});
