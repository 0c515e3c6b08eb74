import { z } from 'zod';
import { StepFailure } from '../../core/failures.ts';
import type { PartnerName } from '../contract.ts';

const errorBody = z.object({ error: z.string().min(1).max(100), message: z.string() });

/** What an answer other than 200 means for the next attempt. */
export function failureOfAnswer(
  partner: PartnerName,
  status: number,
  retryAfter: string | string[] | undefined,
  text: string,
): StepFailure {
  const said = errorIn(text);
  const code = said?.error ?? `http-${status}`;
  const message = `${partner} answered ${status}: ${said?.message ?? 'no reason given'}`;
  const busy = (word: string) => {
    const retryAfterMs = parseRetryAfter(retryAfter, Date.now());
    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    return new StepFailure('busy', word, message, options);
  };

  if (status === 429) return busy('rate-limited');
  if (status === 503) return busy('unavailable');
  if (code === 'in-progress') return busy(code);
  // Anything that is no clear no may have acted: 5xx, a redirect, a 202 that promises nothing.
  if (status >= 500) return new StepFailure('unknown', 'server-error', message);
  if (status < 400 || status === 408) return new StepFailure('unknown', 'bad-answer', message);
  if (code === 'key-reused') return new StepFailure('never', code, message);
  if (code === 'unknown-sku') return new StepFailure('refused', code, message);
  if (status === 404) return new StepFailure('missing', code, message);
  const businessNo = status === 402 || status === 409 || status === 422;
  return new StepFailure(businessNo ? 'refused' : 'never', code, message);
}

/** What a failure without an answer of `partner` means. `timedOut`: our own deadline ended it. */
export function failureOfTransport(
  partner: string,
  cause: unknown,
  timedOut: boolean,
): StepFailure {
  if (timedOut) {
    return new StepFailure('unknown', 'timeout', `${partner} did not answer in time`, { cause });
  }
  const { code = '', syscall = '' } = systemError.safeParse(cause).data ?? {};
  if (syscall === 'connect' || NOT_CONNECTED.includes(code)) {
    const message = `${partner} can't be reached: ${code}`;
    return new StepFailure('busy', 'unreachable', message, { cause });
  }
  if (code === 'UND_ERR_INVALID_ARG') {
    return new StepFailure('never', 'bad-request', `${partner}: ${String(cause)}`, { cause });
  }
  if (cause instanceof Error && cause.message === 'bad port') {
    const message = `${partner}: browsers, and fetch as they do, send nothing to this port`;
    return new StepFailure('never', 'bad-port', message, { cause });
  }
  const message = `the connection to ${partner} ended without an answer: ${code || String(cause)}`;
  return new StepFailure('unknown', 'connection-lost', message, { cause });
}

/** Failures from before a connection was there: the request was never sent. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

const systemError = z.object({ code: z.string().optional(), syscall: z.string().optional() });

function errorIn(text: string): z.infer<typeof errorBody> | undefined {
  try {
    return errorBody.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * The header Retry-After (seconds, or an HTTP date) as milliseconds from `nowMs`, 0 when it is past;
 * undefined when it is absent or neither.
 */
export function parseRetryAfter(
  header: string | string[] | undefined,
  nowMs: number,
): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const dateMs = /^[A-Z][a-z]/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
