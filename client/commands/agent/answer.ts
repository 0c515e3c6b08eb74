import type { AgentAnswer, AgentPipeline } from '../../../core/agent/contract.ts';
import { businessKey } from '../../../core/identity.ts';
import type { OrderId } from '../../../core/identity.ts';
import type { Answer } from '../../answer.ts';
import { cannot, notConfirmed, notFound } from '../../endings.ts';
import { badInput } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { resolveRequest } from '../../references.ts';
import { requestsOf } from '../../runs.ts';
import type { Session } from '../../session.ts';
import { commandOn } from '../../view/commands.ts';
import { text } from '../../view/text.ts';

export interface AnswerOptions {
  by: string;
  approve?: true;
  reject?: true;
  note?: string;
  gate?: string;
  gateVersion?: number;
  buyer?: string;
}

/** Answers what a request waits for, or the gate named: a question with words, an approval with yes or no. */
export async function answer(
  session: Session,
  reference: string,
  said: string | undefined,
  options: AnswerOptions,
): Promise<Answer> {
  const content = contentOf(said, options);
  if ((options.gate === undefined) !== (options.gateVersion === undefined)) {
    throw badInput('--gate and --gate-version belong together: give both or neither.');
  }
  const agents = await session.agents();
  const id = await resolveRequest(agents, reference, options.buyer);
  const asked = await askedOf(agents, id, content, options);
  const given: AgentAnswer = { ...asked, by: options.by, ...content };
  const result = await agents.answer(id, given);
  const request = businessKey(id);
  const json = { request, answered: asked, result };
  const gate = text`${asked.gate} (version ${asked.gateVersion}) of ${request}`;
  switch (result.kind) {
    case 'accepted':
      return {
        exitCode: EXIT.done,
        json,
        out: [text`${gate} ${doneBy(given)} by ${options.by}`],
        err: [commandOn(session.on, `agent where ${request} --follow`)],
      };
    case 'conflict': {
      const out = [`${gate} not answered, ` + text`${result.conflict}: ${result.reason}`];
      return { exitCode: EXIT.conflict, json, out };
    }
    case 'not-confirmed':
      return notConfirmed(json, result.reason);
    case 'not-found':
      throw notFound(requestsOf(agents), reference);
    case 'cannot':
      throw cannot(agents, result);
    default:
      return result satisfies never;
  }
}

type Content = { text: string } | { decision: 'approve' | 'reject'; note?: string };

function contentOf(said: string | undefined, { approve, reject, note }: AnswerOptions): Content {
  const ways = [said !== undefined, approve, reject].filter(Boolean).length;
  if (ways !== 1) {
    throw badInput(
      'Give one answer: words in quotes to a question, --approve or --reject to an approval.',
    );
  }
  if (said === undefined) {
    return { decision: approve ? 'approve' : 'reject', ...(note !== undefined && { note }) };
  }
  if (note !== undefined)
    throw badInput('--note goes with --approve or --reject; words need none.');
  return { text: said };
}

/** The gate named, the one that is open, or the last one there was: an answer to that is a conflict which leaves a trace. */
async function askedOf(
  agents: AgentPipeline,
  id: OrderId,
  content: Content,
  { gate, gateVersion }: AnswerOptions,
): Promise<{ gate: string; gateVersion: number }> {
  if (gate !== undefined && gateVersion !== undefined) return { gate, gateVersion };
  const result = await agents.where(id);
  const position = result.kind === 'position' ? result.position : undefined;
  const open = position?.waitingFor;
  if (open?.kind === 'person') return { gate: open.gate, gateVersion: open.gateVersion };
  const last = position?.history.findLast((entry) => entry.type === 'decided');
  if (last) return { gate: last.gate, gateVersion: last.gateVersion };
  return { gate: 'text' in content ? 'question' : 'approval', gateVersion: 1 };
}

function doneBy(given: AgentAnswer): string {
  if ('text' in given) return 'answered';
  return given.decision === 'approve' ? 'approved' : 'rejected';
}
