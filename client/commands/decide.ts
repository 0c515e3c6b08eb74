import type { Decision, Pipeline, Position } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Answer } from '../answer.ts';
import { cannot, notConfirmed, notFound } from '../endings.ts';
import { EXIT } from '../exit-codes.ts';
import { badInput } from '../errors.ts';
import { resolveOrder } from '../references.ts';
import { ordersOf } from '../runs.ts';
import type { Session } from '../session.ts';
import { text } from '../view/text.ts';

export interface DecideOptions {
  by: string;
  note?: string;
  buyer?: string;
  gate?: string;
  gateVersion?: number;
}

/** Answers the question an order waits for, or the one named. */
export async function decide(
  session: Session,
  reference: string,
  decision: Decision['decision'],
  options: DecideOptions,
): Promise<Answer> {
  if ((options.gate === undefined) !== (options.gateVersion === undefined)) {
    throw badInput('--gate and --gate-version belong together: give both or neither.');
  }
  const pipeline = await session.pipeline();
  const id = await resolveOrder(pipeline, reference, options.buyer);
  const { by, note } = options;
  const question = await questionOf(pipeline, id, options);
  const answer = { ...question, decision, by, ...(note === undefined ? {} : { note }) };
  const result = await pipeline.decide(id, answer);
  const json = { order: businessKey(id), answered: question, result };
  const gate = text`${question.gate} (version ${question.gateVersion}) of ${businessKey(id)}`;
  switch (result.kind) {
    case 'accepted': {
      const done = decision === 'approve' ? 'approved' : 'rejected';
      return { exitCode: EXIT.done, json, out: [`${gate} ${done} ` + text`by ${by}`] };
    }
    case 'conflict':
      return {
        exitCode: EXIT.conflict,
        json,
        out: [`${gate} not answered, ` + text`${result.conflict}: ${result.reason}`],
      };
    case 'not-confirmed':
      return notConfirmed(json, result.reason);
    case 'not-found':
      throw notFound(ordersOf(pipeline), reference);
    case 'cannot':
      throw cannot(pipeline, result);
    default:
      return result satisfies never;
  }
}

/** The gate named, the one that is open, or the last one there was: an answer to that is a conflict which leaves a trace. */
async function questionOf(
  pipeline: Pipeline,
  id: OrderId,
  { gate, gateVersion }: DecideOptions,
): Promise<{ gate: string; gateVersion: number }> {
  if (gate !== undefined && gateVersion !== undefined) return { gate, gateVersion };
  const result = await pipeline.where(id);
  const position = result.kind === 'position' ? result.position : undefined;
  if (position?.waitingFor?.kind === 'person') {
    const { gate: open, gateVersion: version } = position.waitingFor;
    return { gate: open, gateVersion: version };
  }
  return lastQuestion(position) ?? { gate: 'approval', gateVersion: 1 };
}

function lastQuestion(position: Position | undefined) {
  const answered = position?.history.findLast((entry) => entry.type === 'decided');
  return answered && { gate: answered.gate, gateVersion: answered.gateVersion };
}
