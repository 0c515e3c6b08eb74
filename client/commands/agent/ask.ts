import { randomInt } from 'node:crypto';
import { toAgentAsk } from '../../../core/agent/input.ts';
import type { AgentAsk } from '../../../core/agent/input.ts';
import { defaultAgentPolicy } from '../../../core/agent/policy.ts';
import { parseRequest } from '../../../core/agent/request.ts';
import type { AgentRequest } from '../../../core/agent/request.ts';
import type { SubmitResult } from '../../../core/contract.ts';
import { businessKey } from '../../../core/identity.ts';
import { defaultPolicy } from '../../../core/policy.ts';
import type { AgentOutcome } from '../../../core/steps.ts';
import type { Answer } from '../../answer.ts';
import { badInput } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { modelToAsk } from '../../model-choice.ts';
import type { Session } from '../../session.ts';
import { readUp } from '../../up-file.ts';
import { commandOn } from '../../view/commands.ts';
import { startedInWords } from '../../view/submitted.ts';
import { clean, text } from '../../view/text.ts';
import { follow } from './follow.ts';
import { positionAnswer } from './where.ts';

export interface AskOptions {
  ref?: string;
  buyer?: string;
  buyerName?: string;
  email?: string;
  currency: string;
  /** Nano-euros. */
  budgetEur: number;
  maxTurns: number;
  follow?: true;
}

/** As the example orders have it. */
const BUYER = {
  id: 'city-hospital',
  name: 'City Hospital',
  email: 'purchasing@city-hospital.example',
};

/** Hands a request in words to the buying agent; with `follow` tells what it does until it rests. */
export async function ask(session: Session, words: string, options: AskOptions): Promise<Answer> {
  const asked = askedWith(session, requestOf(session, words, options), options);
  const agents = await session.agents();
  const result = await agents.ask(asked);
  const request = businessKey(result.id);
  const started = text`${request}  ${inWords(result)}`;
  const json = { request, model: asked.model, result };
  if (result.kind === 'conflict') return { exitCode: EXIT.conflict, json, out: [started] };
  if (!options.follow) {
    const where = commandOn(session.on, `agent where ${request} --follow`);
    // A chain could not say.
    return {
      exitCode: EXIT.done,
      json,
      out: [started],
      err: session.on === 'chain' ? [] : [where],
    };
  }
  session.progress(started);
  const followed = await follow(session, agents, result.id);
  if (followed.kind === 'position') {
    const answer = positionAnswer(followed.position, {});
    return { ...answer, json: { ...answer.json, ...json, position: followed.position } };
  }
  const why = followed.kind === 'cannot' ? followed.reason : 'it is not there any more';
  return { exitCode: EXIT.done, json, out: [started], err: [`Not followed: ${clean(why)}`] };
}

function requestOf({ now }: Session, words: string, options: AskOptions): AgentRequest {
  const { ref = newReference(now), currency } = options;
  const parsed = parseRequest({ requestRef: ref, buyer: buyerOf(options), text: words, currency });
  if (parsed.ok) return parsed.request;
  const faults = parsed.faults.map((fault) => ({
    ...fault,
    path: FLAGS[fault.path] ?? fault.path,
  }));
  throw badInput('The request has faults. Nothing was started.', faults);
}

const FLAGS: Readonly<Record<string, string>> = {
  requestRef: '--ref',
  'buyer.id': '--buyer',
  'buyer.name': '--buyer-name',
  'buyer.email': '--email',
  currency: '--currency',
  text: '<request>',
};

function buyerOf({ buyer, buyerName, email }: AskOptions) {
  if (buyer === undefined || buyer === BUYER.id) {
    return { id: BUYER.id, name: buyerName ?? BUYER.name, email: email ?? BUYER.email };
  }
  if (email === undefined) {
    throw badInput(`--email is missing: it says where invoices of ${clean(buyer)} go.`);
  }
  return { id: buyer, name: buyerName ?? buyer, email };
}

function askedWith(
  { env }: Session,
  request: AgentRequest,
  { budgetEur: maxNanoEur, maxTurns }: AskOptions,
): AgentAsk {
  const limits = { ...defaultAgentPolicy, maxNanoEur, maxTurns };
  return toAgentAsk({
    request,
    limits,
    policy: defaultPolicy,
    ...modelToAsk(env, readUp()?.agent),
  });
}

/** Without letters and digits that are taken for each other. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

/** `REQ-20261130-k7wq4`: to be read out, and unlikely to be made twice on a day. */
function newReference(now: Date): string {
  const day = now.toISOString().slice(0, 10).replaceAll('-', '');
  const short = Array.from({ length: 5 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return `REQ-${day}-${short}`;
}

function inWords(result: SubmitResult<AgentOutcome>): string {
  return result.kind === 'conflict' ? `conflict: ${result.reason}` : startedInWords(result);
}
