import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Argument, Command } from 'commander';
import { isolatedEnv } from '../client/isolated-env.mjs';
import { modelEnv } from '../client/model-choice.ts';
import { readUp, type Up } from '../client/up-file.ts';
import { clean } from '../client/view/text.ts';
import { workerKinds, type WorkerKind } from './parts.ts';
import { projectRoot } from './runtime.mjs';

/**
 * `npm run worker -- KIND`: one more worker for the running `up`, in this terminal, with the code as it is
 * now. The worker's own settings (Q2T_…, workers/README.md) are taken from the environment.
 */
await new Command('npm run worker --')
  .description('Starts one more worker for the running `up`; Ctrl-C stops it.')
  .addArgument(new Argument('<kind>', 'which').choices(Object.keys(workerKinds)))
  .addHelpText(
    'after',
    `
Examples:
  $ Q2T_DEPLOYMENT=orders Q2T_BUILD_ID=2 npm run worker -- temporal
  $ Q2T_VERSIONS=1 npm run worker -- queue`,
  )
  .action(async (kind: WorkerKind) => {
    const up = readUp();
    if (!up) {
      console.error('Nothing is up: start it with `npm run up` in another terminal.');
      process.exitCode = 1;
      return;
    }
    warnOfModel(up);
    process.env = workerEnv(up, kind);
    await import(pathToFileURL(join(projectRoot, workerKinds[kind].script)).href);
  })
  .parseAsync();

/** Where `up` is counts, whatever else the user has; how to get into a Temporal of their own is theirs to say. */
function workerEnv(up: Up, kind: WorkerKind): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => name.startsWith('Q2T_'));
  return {
    ...(up.uiUrl === undefined ? process.env : isolatedEnv(process.env)),
    TEMPORAL_ADDRESS: up.temporalAddress,
    TEMPORAL_NAMESPACE: up.namespace,
    DATABASE_URL: up.databaseUrl,
    PARTNERS_URL: up.partnersUrl,
    Q2T_TASK_QUEUE: up.taskQueue,
    Q2T_STORE_DIR: join(up.storeDir, kind),
    ...modelEnv(process.env),
    ...Object.fromEntries(own),
  };
}

/** Address and key of a model are in nobody's file: a worker that is not told asks the scripted one. */
function warnOfModel({ agent }: Up): void {
  if (agent === undefined || process.env['AGENT_MODEL']) return;
  console.error(
    `\`up\` has the model ${clean(agent.model)}: set OPENAI_BASE_URL, OPENAI_API_KEY and AGENT_MODEL here too.`,
  );
}
