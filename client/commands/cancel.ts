import { businessKey } from '../../core/identity.ts';
import type { Answer } from '../answer.ts';
import { cannot, notFound } from '../endings.ts';
import { EXIT } from '../exit-codes.ts';
import { resolveOrder } from '../references.ts';
import { ordersOf } from '../runs.ts';
import type { Session } from '../session.ts';
import { commandOn } from '../view/commands.ts';
import { text } from '../view/text.ts';

/** Takes an order back: it stops and undoes what it did. */
export async function cancel(
  session: Session,
  reference: string,
  { by, reason, buyer }: { by: string; reason: string; buyer?: string },
): Promise<Answer> {
  const pipeline = await session.pipeline();
  const id = await resolveOrder(pipeline, reference, buyer);
  const order = businessKey(id);
  const result = await pipeline.cancel(id, by, reason);
  const json = { order, result };
  switch (result.kind) {
    case 'requested':
      return {
        exitCode: EXIT.done,
        json,
        out: [text`${order} cancel requested by ${by}`],
        err: [
          ...(result.stalled === undefined
            ? []
            : [text`Not yet, for want of other code: ${result.stalled}`]),
          `It is honoured unless the invoice is out by then: ${commandOn(session.on, `where ${order} --history`)}`,
        ],
      };
    case 'conflict':
      return {
        exitCode: EXIT.conflict,
        json,
        out: [text`${order} not cancelled, ${result.conflict}: ${result.reason}`],
      };
    case 'not-found':
      throw notFound(ordersOf(pipeline), reference);
    case 'cannot':
      throw cannot(pipeline, result);
    default:
      return result satisfies never;
  }
}
