import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/** Where a part was found: in the environment, in the user's temporal.toml, or running by `npm run up`. */
export type Source = 'environment' | 'configuration file' | 'npm run up';

/** How to reach a Temporal server. `options` may hold an API key or a client key: show it with `describeTarget`. */
export interface TemporalTarget {
  address: string;
  namespace: string;
  options: ConnectionOptions;
  source: Source;
}

const DEFAULT_NAMESPACE = 'default';
/** The SDK 1.24 fails with a TypeError of its own on such a file. */
const NO_PROFILE = 'temporal.toml has no [profile.default] or other profile';

/** There is nothing to point at, or what was given can't be read. The message says what to do. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
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
    databaseUrl: ownDatabaseUrl(env),
    partnersUrl: urlFrom(env, 'PARTNERS_URL', ['http:', 'https:']),
  };
}

/** TEMPORAL_* and temporal.toml as every Temporal tool reads them; undefined when they name no address. */
export function ownTemporal(env: NodeJS.ProcessEnv): TemporalTarget | undefined {
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

/** DATABASE_URL; undefined when it is not set. */
export function ownDatabaseUrl(env: NodeJS.ProcessEnv): string | undefined {
  return urlFrom(env, 'DATABASE_URL', ['postgres:', 'postgresql:']);
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
