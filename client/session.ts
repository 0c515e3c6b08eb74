import type { Implementation, Pipeline } from '../core/contract.ts';
import type { Answer } from './answer.ts';
import { printAnswer, printError } from './answer.ts';
import { toCommandError } from './errors.ts';
import type { ExitCode } from './exit-codes.ts';
import { clean } from './view/text.ts';

/** What every command has. */
export interface Session {
  on: Implementation;
  now: Date;
  /** Connects at the first call: a command checks its input before it needs a server. */
  pipeline(): Promise<Pipeline>;
}

/** Runs one command to its end, prints what it has to say and returns the exit code. Never throws. */
export async function run(
  command: string,
  { on, json }: { on: Implementation; json: boolean },
  body: (session: Session) => Promise<Answer>,
): Promise<ExitCode> {
  const head = { command, implementation: on };
  let opened: Promise<Pipeline> | undefined;
  const session: Session = {
    on,
    now: new Date(),
    pipeline: () => (opened ??= connect(on)),
  };
  try {
    const answer = await body(session);
    printAnswer(answer, head, json);
    return answer.exitCode;
  } catch (thrown) {
    const error = toCommandError(thrown);
    printError(error, head, json);
    return error.exitCode;
  } finally {
    // What was asked is answered by now; a connection that fails to close changes nothing of it.
    await opened?.then((pipeline) => pipeline.close()).catch(() => undefined);
  }
}

async function connect(on: Implementation): Promise<Pipeline> {
  // The SDK takes a while to load: `--help` and a bad file don't wait for it.
  const { open } = await import('./open.ts');
  const { resolveTarget, describeTarget, isPlainUp } = await import('./target.ts');
  const target = resolveTarget(on);
  if (!isPlainUp(target)) process.stderr.write(clean(describeTarget(target)) + '\n');
  return open(on, target);
}
