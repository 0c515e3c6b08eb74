import { z } from 'zod';
import { answerThroughFault, type Answer } from '../answer.ts';
import { parse, type Desk } from '../desk.ts';
import type { Asked } from '../faults.ts';
import { field, referenceOfKey } from '../inputs.ts';
import { misbehave } from './misbehave.ts';
import { readKnowledge } from './knowledge.ts';
import { reply, type Reply } from './script.ts';
import { questionSchema, type Question } from './wire.ts';

/** The transcript of a long run is asked with as a whole when nobody bounds it. */
const bodyLimit = 20_000_000;

/** Whose effect it is, when the caller says. An effect key begins with a business key. */
const label = z
  .string()
  .max(2_000)
  .refine((key) => field.reference.safeParse(referenceOfKey(key)).success, {
    message: 'X-Effect-Key must begin with a business key: "buyer/reference/…"',
  });
const NOBODY = 'nobody/nothing';

/**
 * A language model that follows a script: OpenAI's chat completions without streaming, deterministic
 * from the request. It knows no idempotency keys and remembers nothing: every call that it answers is
 * an effect, since it is paid for.
 */
export function serveModel(desk: Desk): void {
  desk.app.route({
    method: 'POST',
    url: '/model/v1/chat/completions',
    bodyLimit,
    handler: async (request, answering) => {
      const key = parse(label, request.headers['x-effect-key'] ?? NOBODY);
      const question = parse(questionSchema, request.body);
      const refused = refusalOf(question, request.headers.authorization ?? '');
      if (refused) return answering.code(refused.status).send(refused.body);
      const reference = referenceOfKey(key);
      const asked: Asked = { partner: 'model', operation: 'complete', reference, key, skus: [] };
      const caller = { asked, socket: request.raw.socket, reply: answering };
      await answerThroughFault(desk, caller, async (delay) => {
        if (delay && (await delay()) === 'dropped') return undefined;
        return complete(desk, question, { reference, key });
      });
      return answering;
    },
  });
}

function complete(
  { books }: Desk,
  question: Question,
  { reference, key }: { reference: string; key: string },
): Answer {
  const knowledge = readKnowledge(question);
  const said = misbehave(knowledge) ?? reply(knowledge);
  const paid = books.draft({ partner: 'model', kind: 'completion', reference, key });
  books.record([paid]);
  return { status: 200, body: onTheWire(question, said, paid.id) };
}

function onTheWire(
  { model, messages, tools, max_completion_tokens }: Question,
  said: Reply,
  id: string,
) {
  const limit = max_completion_tokens ?? Infinity;
  const whole = tokensOf(JSON.stringify([said.text, ...said.calls.map(Object.values)]));
  const cut = said.cut === true || whole > limit;
  const completion_tokens = cut ? Math.min(whole, limit) : whole;
  const prompt_tokens = tokensOf(JSON.stringify([messages, tools]));
  // A real one stops in mid-word, in its arguments too.
  const part = (text: string) => (cut ? text.slice(0, Math.ceil(text.length / 2)) : text);
  const tool_calls = said.calls.map(({ name, arguments: args }, index) => ({
    id: `call_${messages.length}_${index}`,
    type: 'function',
    function: { name, arguments: part(args) },
  }));
  const message = {
    role: 'assistant',
    content: said.text === '' ? null : part(said.text),
    ...(tool_calls.length > 0 && { tool_calls }),
  };
  const finish_reason = cut ? 'length' : tool_calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason }],
    usage: {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
    },
  };
}

/** A token is about four bytes of English. */
function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** What a real endpoint refuses, in the words of one, which has been seen to repeat a wrong key. */
function refusalOf(question: Question, authorization: string): Answer | undefined {
  const [, key = ''] = authorization.split(' ');
  if (key.startsWith('wrong')) {
    return refusal(401, 'invalid_api_key', `Incorrect API key provided: ${key}.`);
  }
  if (question.stream === true) {
    return refusal(400, 'unsupported_value', 'streaming is off here: leave "stream" out');
  }
  if (question.model.startsWith('no-such')) {
    return refusal(404, 'model_not_found', `The model ${question.model} does not exist.`);
  }
  const unanswered = unansweredCall(question);
  if (unanswered !== undefined) {
    const message = `An assistant message with tool_calls must be followed by tool messages: ${unanswered}`;
    return refusal(400, 'invalid_request_error', message);
  }
  return undefined;
}

function refusal(status: number, code: string, message: string): Answer {
  return { status, body: { error: { message, type: 'invalid_request_error', param: null, code } } };
}

/** A call without its answer, or an answer without its call: real endpoints refuse both. */
function unansweredCall({ messages }: Question): string | undefined {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) return message.tool_call_id;
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) return open[0];
    if (message.role === 'assistant') open = (message.tool_calls ?? []).map(({ id }) => id);
  }
  return open[0];
}
