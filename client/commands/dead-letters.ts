import type { OperatorAction, OperatorResult } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Answer } from '../answer.ts';
import { cannot, notConfirmed, notFound } from '../endings.ts';
import { EXIT } from '../exit-codes.ts';
import { resolveRun } from '../references.ts';
import type { Runs } from '../runs.ts';
import { attemptLines } from '../view/attempts.ts';
import { commandOn } from '../view/commands.ts';
import { row, text } from '../view/text.ts';
import { tableLines } from '../view/table.ts';
import { localTime, when } from '../view/time.ts';

/** Everything that used up its budget and waits for an operator. */
export async function listDeadLetters(runs: Runs): Promise<Answer> {
  const result = await runs.deadLetters.list();
  if (result.kind === 'cannot') throw cannot(runs, result);
  const rows = result.deadLetters.map(({ id, step, since, attempts, reason }) => {
    return [businessKey(id), step, localTime(since), String(attempts.length), reason];
  });
  const none = rows.length === 0;
  const head = [runs.noun.toUpperCase(), 'STEP', 'SINCE', 'ATTEMPTS', 'REASON'];
  const show = `${runs.prefix}dead-letters show ${runs.noun.toUpperCase()}`;
  return {
    exitCode: EXIT.done,
    json: { result },
    out: none ? [] : tableLines(head, rows),
    err: none ? ['No dead letters.'] : [commandOn(runs.implementation, show)],
  };
}

/** One dead letter, with its attempts and what changed between them. */
export async function showDeadLetter(
  runs: Runs,
  reference: string,
  { buyer, now }: { buyer: string | undefined; now: Date },
): Promise<Answer> {
  const { implementation, noun } = runs;
  const id = await resolveRun(runs, reference, buyer);
  const result = await runs.deadLetters.list();
  if (result.kind === 'cannot') throw cannot(runs, result);
  const run = businessKey(id);
  const letter = result.deadLetters.find((candidate) => businessKey(candidate.id) === run);
  if (letter === undefined) throw notFound(runs, reference, `dead letter of ${noun}`);
  return {
    exitCode: EXIT.done,
    json: { [noun]: run, result: { kind: 'dead-letter', deadLetter: letter } },
    out: [
      text`${run} on ${implementation}: stuck at ${letter.step}`,
      row('reason', text`${letter.reason}`),
      row('since', when(letter.since, now)),
      ...attemptLines(letter.attempts),
    ],
    err: operatorCommands(runs, run),
  };
}

/** The commands that help a run which is stuck. A request that was wrong is asked anew, and not fixed. */
export function operatorCommands(
  { implementation, noun, prefix }: Pick<Runs, 'implementation' | 'noun' | 'prefix'>,
  run: string,
): string[] {
  const actions = noun === 'order' ? ['replay', 'discard', 'fix'] : ['replay', 'discard'];
  return actions.map((action) => {
    const file = action === 'fix' ? ' FILE' : '';
    const command = `${prefix}dead-letters ${action} ${run}${file} --by NAME --why TEXT`;
    return commandOn(implementation, command);
  });
}

export interface ActionOptions extends OperatorAction {
  buyer?: string;
}

/** Tries the step of a stuck run again. */
export async function replay(
  runs: Runs,
  reference: string,
  { by, why, buyer }: ActionOptions,
): Promise<Answer> {
  const id = await resolveRun(runs, reference, buyer);
  const result = await runs.deadLetters.replay(id, { by, why });
  return operatorAnswer(runs, id, result, text`replay requested by ${by}`);
}

/** Gives a stuck run up. */
export async function discard(
  runs: Runs,
  reference: string,
  { by, why, buyer }: ActionOptions,
): Promise<Answer> {
  const id = await resolveRun(runs, reference, buyer);
  const result = await runs.deadLetters.discard(id, { by, why });
  return operatorAnswer(runs, id, result, text`discarded by ${by}`);
}

/** What an operator's action came to, as an answer. `done` is what to say of an accepted one. */
export function operatorAnswer(
  runs: Runs,
  id: OrderId,
  result: OperatorResult,
  done: string,
): Answer {
  const run = businessKey(id);
  const json = { [runs.noun]: run, result };
  switch (result.kind) {
    case 'accepted':
      return { exitCode: EXIT.done, json, out: [text`${run} ${done}`] };
    case 'conflict': {
      return { exitCode: EXIT.conflict, json, out: [text`${run} conflict: ${result.reason}`] };
    }
    case 'not-confirmed':
      return notConfirmed(json, result.reason);
    case 'not-found':
      throw notFound(runs, run);
    case 'cannot':
      throw cannot(runs, result);
    default:
      return result satisfies never;
  }
}
