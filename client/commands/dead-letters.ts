import type { OperatorAction, OperatorResult, Pipeline } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Answer } from '../answer.ts';
import { cannot, notConfirmed, notFound } from '../endings.ts';
import { EXIT } from '../exit-codes.ts';
import { resolveOrder } from '../references.ts';
import type { Session } from '../session.ts';
import { attemptLines } from '../view/attempts.ts';
import { commandOn } from '../view/commands.ts';
import { row, text } from '../view/text.ts';
import { tableLines } from '../view/table.ts';
import { localTime, when } from '../view/time.ts';

/** Everything that used up its budget and waits for an operator. */
export async function listDeadLetters(session: Session): Promise<Answer> {
  const pipeline = await session.pipeline();
  const result = await pipeline.deadLetters.list();
  if (result.kind === 'cannot') throw cannot(pipeline, result);
  const rows = result.deadLetters.map(({ id, step, since, attempts, reason }) => {
    return [businessKey(id), step, localTime(since), String(attempts.length), reason];
  });
  const none = rows.length === 0;
  return {
    exitCode: EXIT.done,
    json: { result },
    out: none ? [] : tableLines(['ORDER', 'STEP', 'SINCE', 'ATTEMPTS', 'REASON'], rows),
    err: none ? ['No dead letters.'] : [commandOn(session.on, 'dead-letters show ORDER')],
  };
}

/** One dead letter, with its attempts and what changed between them. */
export async function showDeadLetter(
  session: Session,
  reference: string,
  { buyer }: { buyer?: string },
): Promise<Answer> {
  const pipeline = await session.pipeline();
  const id = await resolveOrder(pipeline, reference, buyer);
  const result = await pipeline.deadLetters.list();
  if (result.kind === 'cannot') throw cannot(pipeline, result);
  const order = businessKey(id);
  const letter = result.deadLetters.find((candidate) => businessKey(candidate.id) === order);
  if (letter === undefined) throw notFound(pipeline, reference, 'dead letter of order');
  return {
    exitCode: EXIT.done,
    json: { order, result: { kind: 'dead-letter', deadLetter: letter } },
    out: [
      text`${order} on ${pipeline.implementation}: stuck at ${letter.step}`,
      row('reason', text`${letter.reason}`),
      row('since', when(letter.since, session.now)),
      ...attemptLines(letter.attempts),
    ],
    err: ['replay', 'discard', 'fix'].map((action) => {
      const file = action === 'fix' ? ' FILE' : '';
      return commandOn(session.on, `dead-letters ${action} ${order}${file} --by NAME --why TEXT`);
    }),
  };
}

export interface ActionOptions extends OperatorAction {
  buyer?: string;
}

/** Tries the step of a stuck run again. */
export function replay(session: Session, reference: string, options: ActionOptions) {
  return operate(session, reference, options, 'replay requested', (pipeline, id, action) => {
    return pipeline.deadLetters.replay(id, action);
  });
}

/** Gives a stuck run up. */
export function discard(session: Session, reference: string, options: ActionOptions) {
  return operate(session, reference, options, 'discarded', (pipeline, id, action) => {
    return pipeline.deadLetters.discard(id, action);
  });
}

async function operate(
  session: Session,
  reference: string,
  { by, why, buyer }: ActionOptions,
  done: string,
  act: (pipeline: Pipeline, id: OrderId, action: OperatorAction) => Promise<OperatorResult>,
): Promise<Answer> {
  const pipeline = await session.pipeline();
  const id = await resolveOrder(pipeline, reference, buyer);
  return operatorAnswer(pipeline, id, await act(pipeline, id, { by, why }), text`${done} by ${by}`);
}

/** What an operator's action came to, as an answer. `done` is what to say of an accepted one. */
export function operatorAnswer(
  pipeline: Pipeline,
  id: OrderId,
  result: OperatorResult,
  done: string,
): Answer {
  const order = businessKey(id);
  const json = { order, result };
  switch (result.kind) {
    case 'accepted':
      return { exitCode: EXIT.done, json, out: [text`${order} ${done}`] };
    case 'conflict': {
      return { exitCode: EXIT.conflict, json, out: [text`${order} conflict: ${result.reason}`] };
    }
    case 'not-confirmed':
      return notConfirmed(json, result.reason);
    case 'not-found':
      throw notFound(pipeline, order);
    case 'cannot':
      throw cannot(pipeline, result);
    default:
      return result satisfies never;
  }
}
