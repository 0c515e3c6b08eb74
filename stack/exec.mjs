import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { projectRoot } from './runtime.mjs';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Puts the command in this process's place, so that signals and the exit code are its own. Where Node
 * can't do that (before 22.15, Windows), runs it below and resolves to its exit code.
 */
export function becomeCommand(file, args, { env }) {
  if (typeof process.execve !== 'function') return runCommand(file, args, { env });
  process.chdir(projectRoot);
  // Node announces `execve` as experimental only after this call would have returned.
  process.execve(file, [file, ...args], definedOnly(env));
}

/** Runs a command with this process's own terminal; resolves to its exit code, 128 + n after signal n. */
export function runCommand(file, args, { env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, cwd: projectRoot, stdio: 'inherit' });
    // A terminal sends Ctrl-C to the child as well: passing it on would be a second one, which means "at once".
    const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
    const forward = (signal) => {
      if (signal !== 'SIGINT' || !onTerminal) child.kill(signal);
    };
    for (const signal of STOP_SIGNALS) process.on(signal, forward);
    const done = () => {
      for (const signal of STOP_SIGNALS) process.off(signal, forward);
    };
    child.once('error', (error) => {
      done();
      reject(error);
    });
    child.once('close', (code, signal) => {
      done();
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

function definedOnly(env) {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}
