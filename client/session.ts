import type { Readable } from 'node:stream';
import type * as opening from './open.ts';
import type { AgentPipeline } from '../core/agent/contract.ts';
import type { Implementation, Pipeline } from '../core/contract.ts';
import type { Answer } from './answer.ts';
import { printAnswer, printError } from './answer.ts';
import { toCommandError } from './errors.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Target } from './target.ts';
import type { Terminal } from './terminal.ts';
import { clean } from './view/text.ts';

/** What every command has. */
export interface Session {
  on: Implementation;
  now: Date;
  stdin: Readable;
  env: NodeJS.ProcessEnv;
  /** Says something while the command works. */
  progress(line: string): void;
  /** Connects at the first call: a command checks its input before it needs a server. */
  pipeline(): Promise<Pipeline>;
  /** The buying agent, in the same way. */
  agents(): Promise<AgentPipeline>;
}

/** Runs one command to its end, prints what it has to say and returns the exit code. Never throws. */
export async function run(
  command: string,
  { on, json }: { on: Implementation; json: boolean },
  terminal: Terminal,
  body: (session: Session) => Promise<Answer>,
): Promise<ExitCode> {
  const head = { command, implementation: on };
  let orders: Promise<Pipeline> | undefined;
  let agents: Promise<AgentPipeline> | undefined;
  const session: Session = {
    on,
    now: new Date(),
    stdin: terminal.stdin,
    env: terminal.env,
    progress: (line) => void terminal.stderr.write(`${line}\n`),
    pipeline: () => (orders ??= connect(on, terminal, ({ open }) => open)),
    agents: () => (agents ??= connect(on, terminal, ({ openAgent }) => openAgent)),
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
    const closing = [orders, agents].map(async (opened) => (await opened)?.close());
    await Promise.allSettled(closing);
  }
}

type Opening = typeof opening;

async function connect<P>(
  on: Implementation,
  { env, stderr }: Terminal,
  how: (opening: Opening) => (on: Implementation, target: Target) => Promise<P>,
): Promise<P> {
  // The SDK takes a while to load: `--help` and a bad file don't wait for it.
  const code = await import('./open.ts');
  const { resolveTarget, describeTarget, isPlainUp } = await import('./target.ts');
  const target = resolveTarget(on, env);
  if (!isPlainUp(target)) stderr.write(clean(describeTarget(target)) + '\n');
  return how(code)(on, target);
}
