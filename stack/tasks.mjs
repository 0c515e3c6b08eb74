/**
 * What `node stack/bootstrap.mjs <task>` starts, each command a list of arguments for Node. Of several
 * commands all run, and the first bad exit code counts. `temporal`: needs the binary. `isolated`: reads
 * nothing of the user's own Temporal or database settings. `node`: needs a later Node than the rest.
 */
export const tasks = {
  demo: { commands: [['lab/demo.ts']], temporal: true, isolated: true },
  lab: { commands: [['lab/main.ts']], temporal: true, isolated: true },
  test: {
    // `--test-global-setup` came with Node 24.
    node: '24.0.0',
    // Three files at once: on two cores Node would take one, and most of a test is waiting for servers.
    commands: [['--test', '--test-concurrency=3', '--test-global-setup=test/global-setup.ts']],
    /**
     * Instead of these, the files or patterns given on the command line. `test/ci` has what takes minutes
     * for one file; CI runs it after the rest.
     */
    defaultArgs: ['test/!(ci)/**/*.test.ts'],
    temporal: true,
    isolated: true,
  },
  up: { commands: [['stack/up.ts']], temporal: true },
  worker: { commands: [['stack/worker.ts']] },
  down: { commands: [['stack/down.ts']], packages: false },
  build: { commands: [['workers/build.ts']] },
  bench: { commands: [['bench/main.ts']], isolated: true },
  // Not isolated: `--live` looks at the user's own server.
  replay: { commands: [['replay/main.ts']] },
  histories: { commands: [['replay/record/main.ts']], temporal: true, isolated: true },
  rules: { commands: [['lab/scenarios/no-rules/main.ts']], temporal: true, isolated: true },
  schema: { commands: [['test/support/write-schema.ts']], isolated: true },
  check: {
    commands: [
      ['node_modules/typescript/bin/tsc'],
      ['node_modules/eslint/bin/eslint.js', '.'],
      ['node_modules/prettier/bin/prettier.cjs', '--check', '.'],
    ],
  },
  format: { commands: [['node_modules/prettier/bin/prettier.cjs', '--write', '.']] },
};
