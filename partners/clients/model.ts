import type OpenAI from 'openai';
import type { APIError } from 'openai';
import { Agent, fetch as undiciFetch } from 'undici';
import { z } from 'zod';
import type { Message, ModelAnswer, ModelQuestion } from '../../core/agent/messages.ts';
import { StepFailure } from '../../core/failures.ts';
import type { Model } from '../contract.ts';
import { failureOfTransport } from './failures.ts';
import { failureOfModel, withoutKey } from './model-failures.ts';

/** No answer of some thousand tokens has reason to be longer. */
const maxResponseSize = 5_000_000;

/** What we read of an answer. Servers differ in what they leave out. */
const completion = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z
            .array(
              z.object({
                id: z.string().nullish(),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: z.int().nonnegative(),
      completion_tokens: z.int().nonnegative(),
    })
    .nullish(),
});

/**
 * A model behind an OpenAI-compatible endpoint. Never asks twice by itself: whoever calls retries, and
 * counts. The key is in no failure and no log. Throws TypeError when `baseUrl` is no URL.
 */
export function connectModel({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): Model {
  // The deadline of a call is its own, so undici's are off.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, maxResponseSize });
  const { href: baseURL, host } = new URL(baseUrl);
  let connected: Promise<OpenAI> | undefined;

  return {
    async complete({ key, ...question }, { timeoutMs, signal }) {
      signal?.throwIfAborted();
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        const openai = await (connected ??= connect({ apiKey, baseURL, dispatcher }));
        const answer = await openai.chat.completions.create(bodyOf(question), {
          // The signal covers the body as well, which the library's own timeout does not.
          signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
          timeout: timeoutMs + 1_000,
          headers: { 'x-effect-key': key },
        });
        return answerOf(answer);
      } catch (error) {
        signal?.throwIfAborted();
        throw withoutKey(await failureOf(error, `model at ${host}`, deadline.aborted), apiKey);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** Loaded with the first call: 170 ms that a worker which never asks a model should not spend at its start. */
async function connect({
  apiKey,
  baseURL,
  dispatcher,
}: {
  apiKey: string;
  baseURL: string;
  dispatcher: Agent;
}): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  return new Client({
    apiKey,
    baseURL,
    maxRetries: 0,
    logLevel: 'off',
    // undici's own types of the same standard fetch.
    fetch: undiciFetch as unknown as typeof fetch,
    fetchOptions: { dispatcher },
  });
}

function bodyOf({ model, messages, tools, maxOutputTokens }: ModelQuestion) {
  return {
    model,
    messages: messages.map(onTheWire),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: 'function' as const, function: tool })),
    }),
    max_completion_tokens: maxOutputTokens,
  };
}

function onTheWire(message: Message): OpenAI.ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
    case 'user':
      return message;
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content };
    case 'assistant': {
      const tool_calls = message.calls.map(({ callId, name, arguments: args }) => ({
        id: callId,
        type: 'function' as const,
        function: { name, arguments: args },
      }));
      const { content } = message;
      return { role: 'assistant', content, ...(tool_calls.length > 0 && { tool_calls }) };
    }
    default:
      return message satisfies never;
  }
}

function answerOf(body: unknown): ModelAnswer {
  const { choices, usage } = completion.parse(body);
  const [choice] = choices;
  if (!choice) throw new Error('an answer without a choice');
  const { content, refusal, tool_calls: calls } = choice.message;
  return {
    text: content ?? refusal ?? '',
    calls: (calls ?? []).map(({ id, function: called }) => ({ callId: id ?? '', ...called })),
    finish: finishOf(choice.finish_reason ?? 'stop'),
    ...(usage && {
      usage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
    }),
  };
}

function finishOf(reason: string): ModelAnswer['finish'] {
  if (reason === 'length') return 'length';
  if (reason === 'content_filter') return 'filtered';
  return reason === 'tool_calls' || reason === 'function_call' ? 'tool-calls' : 'stop';
}

async function failureOf(error: unknown, model: string, timedOut: boolean): Promise<StepFailure> {
  const { APIConnectionError, APIError: AnyApiError } = await import('openai');
  if (timedOut) return failureOfTransport(model, error, true);
  if (error instanceof AnyApiError && typeof error.status === 'number') {
    // An instanceof leaves the library's type parameters as any; these are their defaults.
    const { status, headers, error: body } = error as APIError<number, Headers, object | undefined>;
    return failureOfModel(status, body, headers.get('retry-after') ?? undefined);
  }
  // What has a cause was found below the library: in the connection, or in a body that broke off.
  const cause = innermost(error);
  if (error instanceof APIConnectionError || cause !== error) {
    return failureOfTransport(model, cause, false);
  }
  // It answered, so it was paid, but nobody can tell for what.
  const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
  return new StepFailure('unknown', 'bad-answer', `model answered nonsense: ${why}`);
}

/** The system's own error, under the wrappings of the library and of fetch. */
function innermost(error: unknown): unknown {
  let inner: unknown = error;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  return inner;
}
