import type { Implementation } from '../core/contract.ts';
import { ORDER_TASK_QUEUE } from '../workflows/search-attributes.ts';
import { TargetError, ownDatabaseUrl, ownTemporal } from './own-parts.ts';
import type { Source, TemporalTarget } from './own-parts.ts';
import { readUp, upFile } from './up-file.ts';
import type { Up } from './up-file.ts';

/** What a command on Temporal works on. */
export interface TemporalPlace {
  kind: 'temporal';
  temporal: TemporalTarget;
  taskQueue: string;
  taskQueueSource: Source | 'default';
}

/** What a command on the queue or the chain works on. The URL holds a password: show it with `describeTarget`. */
export interface DatabasePlace {
  kind: 'database';
  databaseUrl: string;
  source: Source;
}

/** The one place that a command works on, and what else there is that could be taken for it. */
export type Target = (TemporalPlace | DatabasePlace) & { unused: string[] };

/**
 * Where `implementation` is: a Temporal server (TEMPORAL_* and temporal.toml as every Temporal tool reads
 * them) or a database (DATABASE_URL), otherwise that of the running `npm run up`. Nothing else is read,
 * so that the queue needs no Temporal and a broken setting of the one never stops the other. Throws a
 * TargetError when there is none.
 */
export function resolveTarget(
  implementation: Implementation,
  env: NodeJS.ProcessEnv = process.env,
  file = upFile,
): Target {
  const up = readUp(file);
  return implementation === 'temporal' ? temporalTarget(env, up) : databaseTarget(env, up);
}

function temporalTarget(env: NodeJS.ProcessEnv, up: Up | undefined): Target {
  const own = ownTemporal(env);
  const temporal = own ?? (up && temporalOfUp(up));
  if (!temporal) throw nowhere('TEMPORAL_ADDRESS');
  // A task queue belongs to the server it was found with, whichever way that server was named.
  const isUps =
    temporal.address === up?.temporalAddress && temporal.namespace === up.namespace
      ? up
      : undefined;
  const [taskQueue, taskQueueSource]: [string, Source | 'default'] = env['Q2T_TASK_QUEUE']
    ? [env['Q2T_TASK_QUEUE'], 'environment']
    : isUps
      ? [isUps.taskQueue, 'npm run up']
      : [ORDER_TASK_QUEUE, 'default'];
  const other = own ? undefined : otherThan(env, 'DATABASE_URL', up?.databaseUrl);
  const unused = up && !isUps ? [UP_UNUSED] : other;
  return { kind: 'temporal', temporal, taskQueue, taskQueueSource, unused: unused ?? [] };
}

function databaseTarget(env: NodeJS.ProcessEnv, up: Up | undefined): Target {
  const own = ownDatabaseUrl(env);
  const databaseUrl = own ?? up?.databaseUrl;
  if (databaseUrl === undefined) throw nowhere('DATABASE_URL');
  const other = own ? undefined : otherThan(env, 'TEMPORAL_ADDRESS', up?.temporalAddress);
  const unused = up && databaseUrl !== up.databaseUrl ? [UP_UNUSED] : other;
  const source = own === undefined ? 'npm run up' : 'environment';
  return { kind: 'database', databaseUrl, source, unused: unused ?? [] };
}

const UP_UNUSED = 'the running `npm run up`';

/** A user who names a server of their own for one half may think that the other half is there as well. */
function otherThan(env: NodeJS.ProcessEnv, name: string, ups: string | undefined): string[] {
  return env[name] && env[name] !== ups ? [name] : [];
}

function nowhere(variable: string): TargetError {
  return new TargetError(
    `No server to talk to: start one with \`npm run up\` in another terminal, or set ${variable}.`,
  );
}

function temporalOfUp({ temporalAddress: address, namespace }: Up): TemporalTarget {
  return { address, namespace, options: { address }, source: 'npm run up' };
}

/** True when it is the running `npm run up`, however it was named. */
export function usesUp({ unused }: Target): boolean {
  return !unused.includes(UP_UNUSED);
}

/** True when all of it is the local `npm run up` and nothing else was named: no user asks where that is. */
export function isPlainUp(target: Target): boolean {
  const sources =
    target.kind === 'database' ? [target.source] : [target.temporal.source, target.taskQueueSource];
  return sources.every((source) => source === 'npm run up') && target.unused.length === 0;
}

/** The target in one line for people: each part, where it was found, no passwords and keys. */
export function describeTarget(target: Target): string {
  const parts = target.kind === 'database' ? databaseParts(target) : temporalParts(target);
  return [...parts, ...target.unused.map((name) => `not used: ${name}`)].join('; ');
}

function databaseParts({ databaseUrl, source }: DatabasePlace): string[] {
  return [`Postgres ${maskUrl(databaseUrl)}, ${from(source)}`];
}

function temporalParts({ temporal, taskQueue, taskQueueSource }: TemporalPlace): string[] {
  const { address, namespace, options, source } = temporal;
  const { apiKey, tls } = options;
  const secured = [apiKey !== undefined && 'API key', tls && 'TLS'].filter(Boolean).join(', ');
  const how = secured && ` (${secured})`;
  return [
    `Temporal ${address} namespace ${namespace}${how}, ${from(source)}`,
    `task queue ${taskQueue}, ${taskQueueSource === 'default' ? 'the default' : from(taskQueueSource)}`,
  ];
}

function from(source: Source): string {
  return source === 'npm run up' ? 'from `npm run up`' : `from the ${source}`;
}

/** A URL to show: its password, and any in its parameters, replaced by `***`. */
export function maskUrl(text: string): string {
  if (!URL.canParse(text)) return '***';
  const url = new URL(text);
  if (url.password !== '') url.password = '***';
  for (const name of [...url.searchParams.keys()]) {
    if (/pass|secret|token|key/i.test(name)) url.searchParams.set(name, '***');
  }
  return url.href;
}
