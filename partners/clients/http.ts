import { Agent, request } from 'undici';
import { z } from 'zod';
import { StepFailure } from '../../core/failures.ts';
import type { Call, PartnerName } from '../contract.ts';
import { failureOfAnswer, failureOfTransport } from './failures.ts';

export interface Question<T> {
  partner: PartnerName;
  path: string;
  /** A GET with these parameters, or a POST with `body`. Undefined values are left out. */
  query?: Record<string, string | undefined>;
  body?: object;
  /** The idempotency key, for a partner that takes one. */
  key?: string;
  /** What the partner promised to answer. */
  promised: z.ZodType<T>;
}

export interface Http {
  /** Returns the promised answer; throws `StepFailure`, or the reason of the caller's own abort. */
  ask<T>(question: Question<T>, call: Call): Promise<T>;
  /** Requests still under way fail as `unknown`. */
  close(): Promise<void>;
}

/** No partner has reason to answer more; a list of what was found has a few entries. */
const maxResponseSize = 1_000_000;

/** One HTTP connection pool to the partners at `baseUrl`. Throws TypeError when that is no URL. */
export function connectHttp(baseUrl: string): Http {
  const base = new URL(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  // The deadline of a call is its own and covers the body too, so undici's are off.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, maxResponseSize });

  return {
    async ask(question, { timeoutMs, signal }) {
      signal?.throwIfAborted();
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        const { statusCode, headers, body } = await request(urlOf(base, question), {
          ...messageOf(question),
          dispatcher: agent,
          signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        });
        const text = await body.text();
        if (statusCode === 200) return promisedIn(text, question);
        throw failureOfAnswer(question.partner, statusCode, headers['retry-after'], text);
      } catch (error) {
        if (error instanceof StepFailure) throw error;
        signal?.throwIfAborted();
        throw failureOfTransport(question.partner, error, deadline.aborted);
      }
    },
    close: () => agent.destroy(),
  };
}

function urlOf(base: URL, { path, query = {} }: Question<unknown>): URL {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}

function messageOf({ body, key }: Question<unknown>) {
  if (body === undefined) return { method: 'GET' } as const;
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  } as const;
}

function promisedIn<T>(text: string, { partner, promised }: Question<T>): T {
  try {
    return promised.parse(JSON.parse(text));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : 'not JSON';
    // It answered 200, so it most likely acted, but nobody can tell on what.
    throw new StepFailure('unknown', 'bad-answer', `${partner} answered nonsense: ${why}`, {
      cause,
    });
  }
}
