import { Command, InvalidArgumentError, Option } from 'commander';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ownParts, type OwnParts } from '../client/own-parts.ts';
import { modelEnv, ownModel } from '../client/model-choice.ts';
import type { ModelChoice } from '../client/model-choice.ts';
import { maskUrl } from '../client/target.ts';
import { upFile, type Up } from '../client/up-file.ts';
import { clean } from '../client/view/text.ts';
import { identityOf, tryLock } from './lock.mjs';
import { workerKinds } from './parts.ts';
import type { Death } from './process.ts';
import { Stack } from './stack.ts';
import { onStopSignal } from './stop-signal.ts';
import { defaultDataDir, upLock } from './up-files.ts';

interface UpOptions {
  dataDir: string;
  workers: number;
  taskQueue?: string;
  temporalPort?: number;
  uiPort?: number;
  postgresPort?: number;
  partnersPort?: number;
}

const KINDS = Object.keys(workerKinds);

/**
 * `npm run up`: everything in the foreground until Ctrl-C, its data kept. Writes the addresses to
 * `.q2t/up.json` for the command line. Exit code 0 after a clean stop, 1 when it could not start or
 * another `up` of this checkout runs.
 */
const program = new Command('npm run up --')
  .description('Starts Postgres, Temporal, the partners and workers; Ctrl-C stops them.')
  .addOption(whole('--workers <n>', `of each kind: ${KINDS.join(', ')}`, 'Q2T_WORKERS').default(1))
  .addOption(new Option('--task-queue <name>', 'default: orders').env('Q2T_TASK_QUEUE'))
  .addOption(whole('--temporal-port <n>', 'default: a free one', 'Q2T_TEMPORAL_PORT'))
  .addOption(whole('--ui-port <n>', "Temporal's web page; default: a free one", 'Q2T_UI_PORT'))
  .addOption(whole('--postgres-port <n>', 'default: a free one', 'Q2T_POSTGRES_PORT'))
  .addOption(whole('--partners-port <n>', 'default: a free one', 'Q2T_PARTNERS_PORT'))
  .addOption(new Option('--data-dir <folder>', 'where the data stays').default(defaultDataDir))
  .addHelpText(
    'after',
    '\nOne worker of each kind works on many orders at a time, and is started again when it dies; more\n' +
      'are for seeing one go while another stays, and cost a process each.\n' +
      '\nTEMPORAL_ADDRESS (and the other TEMPORAL_* settings), DATABASE_URL and PARTNERS_URL name\n' +
      'servers of your own, which are then used instead of embedded ones. OPENAI_BASE_URL, OPENAI_API_KEY,\n' +
      'AGENT_MODEL and AGENT_PRICE_EUR_PER_MILLION_TOKENS name a model of your own for the buying agent.',
  )
  .action(up);

await program.parseAsync();

async function up(options: UpOptions): Promise<void> {
  const lock = tryLock(upLock);
  if (!lock.release) {
    console.error(
      `Already up: process ${lock.holder.pid} since ${lock.holder.since}. Stop it with \`npm run down\`.`,
    );
    process.exitCode = 1;
    return;
  }
  try {
    await runUntilStopped(options);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  } finally {
    rmSync(upFile, { force: true });
    lock.release();
  }
}

async function runUntilStopped(options: UpOptions): Promise<void> {
  const own = ownParts();
  const model = ownModel(process.env);
  const stack = new Stack({
    dataDir: resolve(options.dataDir),
    external: externalOf(own),
    ports: {
      ...(options.postgresPort !== undefined && { postgres: options.postgresPort }),
      ...(options.temporalPort !== undefined && { temporal: options.temporalPort }),
      ...(options.uiPort !== undefined && { temporalUi: options.uiPort }),
      ...(options.partnersPort !== undefined && { partners: options.partnersPort }),
    },
    workers: options.workers,
    workerEnv: modelEnv(process.env),
    ...(options.taskQueue !== undefined && { taskQueue: options.taskQueue }),
    restart: true,
    onDeath: reportDeath,
    onProgress: (line) => {
      console.error(`${line} …`);
    },
  });
  const stopping = Promise.withResolvers<'stop'>();
  const off = onStopSignal({
    stop: () => {
      console.error('Stopping … (Ctrl-C again: at once)');
      stopping.resolve('stop');
    },
    force: () => void stack.kill(),
  });
  try {
    const first = await Promise.race([stack.start(), stopping.promise]);
    if (first === 'stop') return;
    writeUp(stack, model);
    console.log(describe(stack, own, model));
    await stopping.promise;
  } finally {
    await stack.stop();
    off();
    console.error('Stopped. The data stays; `npm run down -- --erase` deletes it.');
  }
}

function externalOf({ temporal, databaseUrl, partnersUrl }: OwnParts) {
  return {
    ...(temporal && { temporal: { ...temporal, workerEnv: temporalSettings() } }),
    ...(databaseUrl !== undefined && { databaseUrl }),
    ...(partnersUrl !== undefined && { partnersUrl }),
  };
}

/** The user's own settings as they are, keys and profiles included: workers read them with the same library. */
function temporalSettings(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => name.startsWith('TEMPORAL_'));
  // Undefined where the user has none: their temporal.toml is then found in its usual place.
  return { TEMPORAL_CONFIG_FILE: undefined, ...Object.fromEntries(own) };
}

function writeUp(stack: Stack, agent: ModelChoice | undefined): void {
  const up: Up = {
    pid: process.pid,
    identity: identityOf(process.pid),
    startedAt: new Date().toISOString(),
    temporalAddress: stack.temporal.address,
    namespace: stack.temporal.namespace,
    uiUrl: stack.uiUrl,
    databaseUrl: stack.databaseUrl,
    partnersUrl: stack.partnersUrl,
    taskQueue: stack.taskQueue,
    dataDir: stack.dataDir,
    storeDir: stack.storeDir,
    agent,
  };
  mkdirSync(dirname(upFile), { recursive: true });
  // It holds the database's password.
  writeFileSync(upFile, JSON.stringify(up, undefined, 2), { mode: 0o600 });
}

function describe(stack: Stack, own: OwnParts, model: ModelChoice | undefined): string {
  const { address, namespace } = stack.temporal;
  const from = (part: unknown, source = 'environment') =>
    part === undefined ? '' : `  (yours, from the ${source})`;
  const rows = [
    ['Temporal', `${address}, namespace ${namespace}${from(own.temporal, own.temporal?.source)}`],
    ['Web page', stack.uiUrl ?? "your server's own"],
    ['Postgres', `${maskUrl(stack.databaseUrl)}${from(own.databaseUrl)}`],
    ['Partners', `${maskUrl(stack.partnersUrl)}${from(own.partnersUrl)}`],
    ['Model', modelInWords(model)],
    ['Task queue', stack.taskQueue],
    ['Workers', workersOf(stack)],
    ['Data', stack.dataDir],
    ['Logs', join(stack.dataDir, 'logs')],
    ['Passwords', upFile],
  ] as const;
  const lines = rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`);
  return ['Up. Ctrl-C stops it; `npx q2t --help` in another terminal.', ...lines].join('\n');
}

/** The key is nowhere in it. */
function modelInWords(model: ModelChoice | undefined): string {
  const at = process.env['OPENAI_BASE_URL'];
  if (model === undefined || !at) return 'scripted-1, of the partners';
  return `${clean(model.model)} at ${maskUrl(at)}  (yours, from the environment)`;
}

/** `1 temporal, 1 queue, 1 chain`. */
function workersOf({ workers }: Stack): string {
  const count = (kind: string) => workers.filter(({ name }) => name.startsWith(`${kind}-`)).length;
  return KINDS.map((kind) => `${count(kind)} ${kind}`).join(', ');
}

function reportDeath({ name, how, logTail, willRestart }: Death): void {
  const next = willRestart ? 'It is started again.' : 'It stays down: restart `npm run up`.';
  console.error(`${name} ended ${how}. ${next} The end of its log:\n${logTail}`);
}

function whole(flags: string, description: string, env: string): Option {
  return new Option(flags, description).env(env).argParser((text: string) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0 || value > 65_535) {
      throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
    }
    return value;
  });
}
