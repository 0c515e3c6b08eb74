import type { Readable } from 'node:stream';
import type { Implementation, Pipeline } from '../core/contract.ts';
import type { Answer } from './answer.ts';
import { printAnswer, printError } from './answer.ts';
import { toCommandError } from './errors.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';
import { clean } from './view/text.ts';

/** What every command has. */
export interface Session {
  on: Implementation;
  now: Date;
  stdin: Readable;
  /** Connects at the first call: a command checks its input before it needs a server. */
  pipeline(): Promise<Pipeline>;
}

/** Runs one command to its end, prints what it has to say and returns the exit code. Never throws. */
export async function run(
  command: string,
  { on, json }: { on: Implementation; json: boolean },
  terminal: Terminal,
  body: (session: Session) => Promise<Answer>,
): Promise<ExitCode> {
  const head = { command, implementation: on };
  let opened: Promise<Pipeline> | undefined;
  const session: Session = {
    on,
    now: new Date(),
    stdin: terminal.stdin,
    pipeline: () => (opened ??= connect(on, terminal)),
  };
  try {
    const answer = await body(session);
    printAnswer(answer, head, { json, terminal });
    return answer.exitCode;
  } catch (thrown) {
    const error = toCommandError(thrown);
    printError(error, head, { json, terminal });
    return error.exitCode;
  } finally {
    // What was asked is answered by now; a connection that fails to close changes nothing of it.
    await opened?.then((pipeline) => pipeline.close()).catch(() => undefined);
  }
}

async function connect(on: Implementation, { env, stderr }: Terminal): Promise<Pipeline> {
  // The SDK takes a while to load: `--help` and a bad file don't wait for it.
  const { open } = await import('./open.ts');
  const { resolveTarget, describeTarget, isPlainUp } = await import('./target.ts');
  const target = resolveTarget(on, env);
  if (!isPlainUp(target)) stderr.write(clean(describeTarget(target)) + '\n');
  return open(on, target);
}
