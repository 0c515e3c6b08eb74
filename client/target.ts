import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { stateDir } from '../stack/runtime.mjs';
import { ORDER_TASK_QUEUE } from '../workflows/search-attributes.ts';

export { isolatedEnv } from './isolated-env.mjs';

/** Where a part was found: in the environment, in the user's temporal.toml, or running by `npm run up`. */
export type Source = 'environment' | 'configuration file' | 'npm run up';

/** How to reach a Temporal server. `options` may hold an API key or a client key: show it with `describeTarget`. */
export interface TemporalTarget {
  address: string;
  namespace: string;
  options: ConnectionOptions;
  source: Source;
}

/** What the command line works on. A part that neither the environment nor a running `up` names is undefined. */
export interface Target {
  temporal: TemporalTarget;
  databaseUrl: string | undefined;
  partnersUrl: string | undefined;
  taskQueue: string;
  source: Source;
}

/** What `npm run up` writes to `.q2t/up.json` for the command line. */
export const upSchema = z.object({
  pid: z.number(),
  /** Tells this process from a later one with the same pid. */
  identity: z.string().optional(),
  startedAt: z.string(),
  temporalAddress: z.string(),
  namespace: z.string(),
  uiUrl: z.string().optional(),
  databaseUrl: z.string(),
  partnersUrl: z.string(),
  taskQueue: z.string(),
  dataDir: z.string(),
});
export type Up = z.infer<typeof upSchema>;

export const upFile = join(stateDir, 'up.json');
const DEFAULT_NAMESPACE = 'default';
/** The SDK 1.24 fails with a TypeError of its own on such a file. */
const NO_PROFILE = 'temporal.toml has no [profile.default] or other profile';

/** There is nothing to point at, or what was given can't be read. The message says what to do. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

/**
 * What the user points at: TEMPORAL_* and temporal.toml as every Temporal tool reads them, DATABASE_URL
 * and PARTNERS_URL; for what those don't name, the running `npm run up`. Throws a TargetError when no
 * Temporal server is named at all.
 */
export function resolveTarget(env: NodeJS.ProcessEnv = process.env, file = upFile): Target {
  const own = ownParts(env);
  const up = readUp(file);
  const temporal = own.temporal ?? (up && temporalOfUp(up));
  if (!temporal) {
    throw new TargetError(
      'No server to talk to: start one with `npm run up` in another terminal, or set TEMPORAL_ADDRESS.',
    );
  }
  return {
    temporal,
    databaseUrl: own.databaseUrl ?? up?.databaseUrl,
    partnersUrl: own.partnersUrl ?? up?.partnersUrl,
    taskQueue:
      env['Q2T_TASK_QUEUE'] ?? (own.temporal ? undefined : up?.taskQueue) ?? ORDER_TASK_QUEUE,
    source: temporal.source,
  };
}

/** The parts that the user brings, each undefined when they don't. */
export interface OwnParts {
  temporal: TemporalTarget | undefined;
  databaseUrl: string | undefined;
  partnersUrl: string | undefined;
}

/** Reads the user's own settings. Throws a TargetError naming the variable when one can't be used. */
export function ownParts(env: NodeJS.ProcessEnv = process.env): OwnParts {
  return {
    temporal: ownTemporal(env),
    databaseUrl: urlFrom(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    partnersUrl: urlFrom(env, 'PARTNERS_URL', ['http:', 'https:']),
  };
}

function ownTemporal(env: NodeJS.ProcessEnv): TemporalTarget | undefined {
  const overrideEnvVars = Object.fromEntries(
    // An empty variable is how a shell says "not set".
    Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
  let config;
  try {
    config = loadClientConnectConfig({ overrideEnvVars });
  } catch (error) {
    const reason = error instanceof TypeError ? NO_PROFILE : String(error);
    throw new TargetError(`Temporal's configuration can't be used: ${reason}`, { cause: error });
  }
  const { address, apiKey, tls, metadata } = config.connectionOptions;
  if (!address) return undefined;
  return {
    address,
    namespace: config.namespace ?? DEFAULT_NAMESPACE,
    options: {
      address,
      ...(apiKey !== undefined && { apiKey }),
      ...(tls != null && { tls }),
      ...(metadata !== undefined && { metadata }),
    },
    source: env['TEMPORAL_ADDRESS'] ? 'environment' : 'configuration file',
  };
}

function urlFrom(
  env: NodeJS.ProcessEnv,
  name: string,
  protocols: readonly string[],
): string | undefined {
  const value = env[name];
  if (!value) return undefined;
  if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
    // Without the value: it may hold a password.
    throw new TargetError(`${name} must be a URL that begins with ${protocols.join('// or ')}//`);
  }
  return value;
}

function temporalOfUp(up: Up): TemporalTarget {
  const { temporalAddress: address, namespace } = up;
  return { address, namespace, options: { address }, source: 'npm run up' };
}

/** The `up` of this checkout that is running, undefined when none is. */
export function readUp(file = upFile): Up | undefined {
  let up: Up;
  try {
    up = upSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
  return isRunning(up.pid) ? up : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is a process too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The target in one line for people, without passwords and keys. */
export function describeTarget(target: Target): string {
  const { temporal } = target;
  const { apiKey, tls } = temporal.options;
  const secured = [apiKey !== undefined && 'API key', tls && 'TLS'].filter(Boolean).join(', ');
  const parts = [
    `Temporal ${temporal.address} namespace ${temporal.namespace}${secured && ` (${secured})`}`,
    `task queue ${target.taskQueue}`,
    target.databaseUrl !== undefined && `Postgres ${maskUrl(target.databaseUrl)}`,
    target.partnersUrl !== undefined && `partners ${maskUrl(target.partnersUrl)}`,
  ];
  return `${parts.filter(Boolean).join(', ')} – from ${temporal.source}`;
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
