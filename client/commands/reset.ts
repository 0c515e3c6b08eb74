import type { OperatorAction, ResetResult } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { Answer } from '../answer.ts';
import { cannot, notFound } from '../endings.ts';
import { EXIT } from '../exit-codes.ts';
import { resolveOrder } from '../references.ts';
import { ordersOf } from '../runs.ts';
import type { Session } from '../session.ts';
import { commandOn } from '../view/commands.ts';
import { row, text } from '../view/text.ts';

export interface ResetOptions extends OperatorAction {
  to?: number;
  buyer?: string;
}

/** Takes a stalled order back to where the code that is running now can go on with it. */
export async function reset(
  session: Session,
  reference: string,
  { by, why, to, buyer }: ResetOptions,
): Promise<Answer> {
  const pipeline = await session.pipeline();
  const id = await resolveOrder(pipeline, reference, buyer);
  const order = businessKey(id);
  const result = await pipeline.reset(id, { by, why, ...(to !== undefined && { toEvent: to }) });
  const json = { order, result };
  switch (result.kind) {
    case 'reset':
      return {
        exitCode: EXIT.done,
        json,
        out: [
          text`${order} reset to before event ${result.toEvent} by ${by}`,
          ...droppedLines(result),
        ],
        err: [commandOn(session.on, `where ${order} --history`)],
      };
    case 'conflict':
      return {
        exitCode: EXIT.conflict,
        json,
        out: [text`${order} not reset: ${result.reason}`],
      };
    case 'not-found':
      throw notFound(ordersOf(pipeline), reference);
    case 'cannot':
      throw cannot(pipeline, result);
    default:
      return result satisfies never;
  }
}

function droppedLines({ again, sentAgain }: ResetResult & { kind: 'reset' }): string[] {
  return [
    row(
      'again',
      again.length === 0 ? 'nothing that was done' : text`${again.join(', ')}, under the same keys`,
    ),
    ...(sentAgain.length > 0 ? [row('sent again', text`${sentAgain.join(', ')}`)] : []),
  ];
}
