import { execa } from 'execa';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';

/** A command, and how it runs apart from this process's terminal. */
export interface Launch {
  file: string;
  args: readonly string[];
  /** The whole environment: nothing is inherited. */
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Run as this user, which only root can ask for. */
  user?: User;
  /** Both outputs are appended here. */
  logFile: string;
  /** How it is asked to end; also what the kernel sends it when this process dies. */
  stopSignal: NodeJS.Signals;
}

export interface User {
  uid: number;
  gid: number;
  /** Its program or data stand in a folder that only root may enter, as a checkout under /root does. */
  crossesClosedFolders: boolean;
}

export interface Child {
  /** Undefined when it could not be run at all. */
  pid: number | undefined;
  outputs: readonly Readable[];
  kill(signal: NodeJS.Signals): void;
  /** How it ended, in words. */
  ended: Promise<string>;
}

/**
 * Starts the command in a session of its own: Ctrl-C reaches this process alone, which then stops its
 * children in order. `ended` never rejects.
 */
export async function launch(spec: Launch): Promise<Child> {
  mkdirSync(dirname(spec.logFile), { recursive: true });
  const command = await wrap(spec);
  const child = execa(command.file, command.args, {
    ...command.options,
    env: spec.env,
    extendEnv: false,
    cwd: spec.cwd,
    stdin: 'ignore',
    stdout: ['pipe', { file: spec.logFile, append: true }],
    stderr: ['pipe', { file: spec.logFile, append: true }],
    // The log file has it all; a server's output of days must not pile up in memory.
    buffer: false,
    detached: true,
    cleanup: false,
    // Whoever stops it has a limit of its own; execa's would cut a worker's last 30 s to 5.
    forceKillAfterDelay: false,
    reject: false,
  });
  return {
    pid: child.pid,
    outputs: [child.stdout, child.stderr],
    kill: (signal) => child.kill(signal),
    ended: child.then(howEnded),
  };
}

interface Wrapped {
  file: string;
  args: readonly string[];
  options: { uid?: number; gid?: number };
}

/** Runs a short command to its end, as the same user and with the same rights as a launched one. */
export async function runToEnd(
  spec: Pick<Launch, 'file' | 'args' | 'env' | 'cwd' | 'user'>,
): Promise<void> {
  const command = await wrap({ ...spec, stopSignal: 'SIGKILL' });
  await execa(command.file, command.args, {
    ...command.options,
    env: spec.env,
    extendEnv: false,
    cwd: spec.cwd,
    stdin: 'ignore',
  });
}

/**
 * On Linux `setpriv` has the kernel end the child when this process dies, however it dies. Elsewhere a
 * child outlives a parent that was killed, until the next start finds its pid file.
 */
async function wrap(spec: Pick<Launch, 'file' | 'args' | 'user' | 'stopSignal'>): Promise<Wrapped> {
  const { file, args, user, stopSignal } = spec;
  if (!(await hasSetpriv())) {
    if (user?.crossesClosedFolders === true) {
      throw new Error(
        `${file} can't run as root, and the user it would run as can't enter its folder: ` +
          'move the project to a folder that others may enter, or work as another user than root',
      );
    }
    return { file, args, options: user ? { uid: user.uid, gid: user.gid } : {} };
  }
  const flags = ['--pdeathsig', stopSignal.slice('SIG'.length)];
  if (user) flags.push(`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups');
  if (user?.crossesClosedFolders === true) {
    // Root may pass on its right to enter any folder; a container's root has this one, and few others.
    flags.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override');
    // Without this access(2), by which Postgres looks for its own programs, doesn't heed that right.
    flags.push('--securebits=+no_setuid_fixup');
  }
  return { file: 'setpriv', args: [...flags, file, ...args], options: {} };
}

let setpriv: Promise<boolean> | undefined;

/** The one of util-linux; busybox has another without this option. */
function hasSetpriv(): Promise<boolean> {
  setpriv ??= execa('setpriv', ['--pdeathsig', 'clear', 'true'], { reject: false }).then(
    (result) => result.exitCode === 0,
  );
  return setpriv;
}

/** `with code 1`, `by SIGKILL`, or why it never ran. */
function howEnded(result: {
  exitCode?: number | undefined;
  signal?: string | undefined;
  originalMessage?: string | undefined;
}): string {
  if (result.signal !== undefined) return `by ${result.signal}`;
  if (result.exitCode !== undefined) return `with code ${result.exitCode}`;
  return `before it ran (${result.originalMessage ?? 'unknown reason'})`;
}
