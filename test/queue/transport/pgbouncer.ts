import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { freePort } from '../../../stack/ports.ts';
import { until } from '../../support/until.ts';

export interface PgBouncer {
  /** The same database as the given one, through the pooler. */
  url: string;
  stop(): Promise<void>;
}

/** A real PgBouncer in transaction mode before the Postgres at `url`. */
export async function startPgBouncer(program: string, url: string): Promise<PgBouncer> {
  const target = new URL(url);
  const folder = await mkdtemp(join(tmpdir(), 'q2t-pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, configuration(target, port));
  const asRoot = userInfo().uid === 0;
  if (asRoot) await chmod(folder, 0o755);
  // It refuses to run as root; Debian's package and the embedded Postgres both bring this user.
  const running = execa(program, [...(asRoot ? ['-u', 'postgres'] : []), file], {
    reject: false,
    all: true,
  });
  await until('PgBouncer to answer', () => answers(port));
  target.port = String(port);
  return {
    url: target.href,
    async stop() {
      running.kill('SIGINT');
      await running;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/*
 * Six server connections for the twenty of a test's pool: clients do share them. The timeouts of
 * openPool come as start-up parameters, which PgBouncer has to be told to let pass.
 */
function configuration(target: URL, port: number): string {
  return `[databases]
* = host=${target.hostname} port=${target.port} user=${target.username} password=${target.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
ignore_startup_parameters = extra_float_digits,statement_timeout,lock_timeout,idle_in_transaction_session_timeout
`;
}

/**
 * The program, installed as Debian's package where that can be done without asking; undefined where
 * there is none. On CI that is an error: there the tests behind it must run.
 */
export async function findPgBouncer(): Promise<string | undefined> {
  const find = async () => {
    const { stdout } = await execa('sh', ['-c', 'PATH=$PATH:/usr/sbin command -v pgbouncer'], {
      reject: false,
    });
    return stdout === '' ? undefined : stdout;
  };
  const found = await find();
  if (found !== undefined) return found;
  if (userInfo().uid === 0) {
    const install =
      'apt-get install -y -q pgbouncer || { apt-get update -q && apt-get install -y -q pgbouncer; }';
    await execa('sh', ['-c', install], {
      reject: false,
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  const installed = await find();
  if (installed === undefined && process.env['CI']) throw new Error(HOW_TO_GET_IT);
  return installed;
}

export const HOW_TO_GET_IT =
  'needs a real PgBouncer: apt-get install pgbouncer, or brew install pgbouncer';

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
