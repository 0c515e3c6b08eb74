import { businessKey } from '../../core/identity.ts';
import type { Answer } from '../answer.ts';
import { cannot, notFound } from '../endings.ts';
import { EXIT } from '../exit-codes.ts';
import { resolveOrder } from '../references.ts';
import { ordersOf } from '../runs.ts';
import type { Session } from '../session.ts';
import { historyLines } from '../view/history.ts';
import { nextCommands, positionLines } from '../view/position.ts';

/** Where an order is right now; with `history` also how it got there. */
export async function where(
  session: Session,
  reference: string,
  options: { history?: true; buyer?: string },
): Promise<Answer> {
  const pipeline = await session.pipeline();
  const id = await resolveOrder(pipeline, reference, options.buyer);
  const result = await pipeline.where(id);
  if (result.kind === 'not-found') throw notFound(ordersOf(pipeline), reference);
  if (result.kind === 'cannot') throw cannot(pipeline, result);
  const { history, historyCut, ...position } = result.position;
  const out = positionLines(result.position, session.now);
  if (options.history) out.push('', ...historyLines(history, historyCut));
  return {
    exitCode: EXIT.done,
    json: {
      order: businessKey(id),
      result: { kind: 'position', position: options.history ? result.position : position },
    },
    out,
    err: nextCommands(result.position),
  };
}
