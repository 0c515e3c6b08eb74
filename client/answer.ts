import type { ExitCode } from './exit-codes.ts';
import type { CommandError, InputFault } from './errors.ts';
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

/** Writes an answer: with `--json` one document on stdout and nothing else, otherwise its lines. */
export function printAnswer(answer: Answer, head: Record<string, unknown>, json: boolean): void {
  if (json) printJson({ ...head, exitCode: answer.exitCode, ...answer.json });
  else {
    print(process.stdout, answer.out);
    print(process.stderr, answer.err ?? []);
  }
}

/** Writes an error; with `--json` also as the command's document on stdout, so that a program always gets one. */
export function printError(
  error: CommandError,
  head: Record<string, unknown>,
  json: boolean,
): void {
  const { exitCode, message, hint, faults } = error;
  if (json) {
    const told = { message, ...(hint === undefined ? {} : { hint }), faults };
    printJson({ ...head, exitCode, error: told });
    return;
  }
  const lines = [text`q2t: ${message}`, ...faults.flatMap(faultLines)];
  if (hint !== undefined) lines.push(clean(hint));
  if (process.env['Q2T_DEBUG']) lines.push(...stackOf(error));
  print(process.stderr, lines);
}

function faultLines({ file, path, message, hint }: InputFault): string[] {
  const place = [file, path].filter((part) => part !== undefined && part !== '').join(': ');
  return [text`  ${place === '' ? 'order' : place}: ${message}`, text`    ${hint}`];
}

function stackOf(error: Error): string[] {
  const origin = error.cause instanceof Error ? error.cause : error;
  return (origin.stack ?? '').split('\n').map(clean);
}

function print(stream: NodeJS.WritableStream, lines: readonly string[]): void {
  if (lines.length > 0) stream.write(lines.join('\n') + '\n');
}

function printJson(document: unknown): void {
  // JSON escapes C0 controls itself; it has no need to be cleaned and programs want the data as it is.
  process.stdout.write(JSON.stringify(document, null, 2) + '\n');
}
