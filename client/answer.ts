import type { ExitCode } from './exit-codes.ts';
import type { CommandError, InputFault } from './errors.ts';
import type { Terminal } from './terminal.ts';
import { clean, text } from './view/text.ts';

/** What a command has to say: once for programs, once for people. */
export interface Answer {
  exitCode: ExitCode;
  /** The command's own part of its JSON document. */
  json: Record<string, unknown>;
  /** The result, for stdout. */
  out: string[];
  /** Hints and explanations, for stderr. */
  err?: string[];
}

/** How and where to. */
interface Print {
  json: boolean;
  terminal: Terminal;
}

/** Writes an answer: with `--json` one document on stdout and nothing else, otherwise its lines. */
export function printAnswer(
  answer: Answer,
  head: Record<string, unknown>,
  { json, terminal: { stdout, stderr } }: Print,
): void {
  if (json) printJson(stdout, { ...head, exitCode: answer.exitCode, ...answer.json });
  else {
    print(stdout, answer.out);
    print(stderr, answer.err ?? []);
  }
}

/** Writes an error; with `--json` also as the command's document on stdout, so that a program always gets one. */
export function printError(
  error: CommandError,
  head: Record<string, unknown>,
  { json, terminal: { env, stdout, stderr } }: Print,
): void {
  const { exitCode, message, hint, faults } = error;
  if (json) {
    const told = { message, ...(hint === undefined ? {} : { hint }), faults };
    printJson(stdout, { ...head, exitCode, error: told });
    return;
  }
  const lines = [text`q2t: ${message}`, ...faults.flatMap(faultLines)];
  if (hint !== undefined) lines.push(clean(hint));
  if (env['Q2T_DEBUG']) lines.push(...stackOf(error));
  print(stderr, lines);
}

function faultLines({ file, path, message, hint }: InputFault): string[] {
  const place = [file, path].filter((part) => part !== undefined && part !== '').join(': ');
  return [text`  ${place === '' ? 'order' : place}: ${message}`, text`    ${hint}`];
}

function stackOf(error: Error): string[] {
  const origin = error.cause instanceof Error ? error.cause : error;
  return (origin.stack ?? '').split('\n').map(clean);
}

function print(stream: Terminal['stdout'], lines: readonly string[]): void {
  if (lines.length > 0) stream.write(lines.join('\n') + '\n');
}

function printJson(stdout: Terminal['stdout'], document: unknown): void {
  // JSON escapes C0 controls itself; it has no need to be cleaned and programs want the data as it is.
  stdout.write(JSON.stringify(document, null, 2) + '\n');
}
