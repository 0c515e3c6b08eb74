import { businessKey } from '../../../core/identity.ts';
import type { Answer } from '../../answer.ts';
import { cannot, notFound } from '../../endings.ts';
import { EXIT } from '../../exit-codes.ts';
import { resolveRequest } from '../../references.ts';
import { requestsOf } from '../../runs.ts';
import type { Session } from '../../session.ts';
import { commandOn } from '../../view/commands.ts';
import { text } from '../../view/text.ts';

/** Takes a request back: the agent stops; an order that it has started is cancelled first. */
export async function cancel(
  session: Session,
  reference: string,
  { by, reason, buyer }: { by: string; reason: string; buyer?: string },
): Promise<Answer> {
  const agents = await session.agents();
  const id = await resolveRequest(agents, reference, buyer);
  const request = businessKey(id);
  const result = await agents.cancel(id, by, reason);
  const json = { request, result };
  switch (result.kind) {
    case 'requested': {
      const out = [text`${request} cancel requested by ${by}`];
      const stalled =
        result.stalled === undefined
          ? []
          : [text`Not yet, for want of other code: ${result.stalled}`];
      const where = commandOn(session.on, `agent where ${request} --follow`);
      const hint = `An order that has been started says what becomes of it: ${where}`;
      return { exitCode: EXIT.done, json, out, err: [...stalled, hint] };
    }
    case 'conflict': {
      const out = [text`${request} not cancelled, ${result.conflict}: ${result.reason}`];
      return { exitCode: EXIT.conflict, json, out };
    }
    case 'not-found':
      throw notFound(requestsOf(agents), reference);
    case 'cannot':
      throw cannot(agents, result);
    default:
      return result satisfies never;
  }
}
