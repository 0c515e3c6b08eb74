import { z } from 'zod';
import { StepFailure } from '../../core/failures.ts';
import { plain } from '../../core/order/quote.ts';
import { parseRetryAfter } from './failures.ts';

const said = z.object({
  message: z.string().optional(),
  code: z.union([z.string(), z.number()]).nullish(),
});

/**
 * What an error of an OpenAI-compatible endpoint means for the next attempt. `body` is what stood under
 * `error`. There is no business answer among them, so nothing is `refused`: what can't be cured is an
 * operator's case.
 */
export function failureOfModel(
  status: number,
  body: unknown,
  retryAfter: string | undefined,
): StepFailure {
  const { message = 'no reason given', code } = said.safeParse(body).data ?? {};
  const word = typeof code === 'string' && code !== '' ? code.slice(0, 100) : `http-${status}`;
  const text = `model answered ${status}: ${plain(message, 300)}`;

  if (status === 401 || status === 403) {
    // Providers repeat parts of a wrong key in their reason, so it is not passed on.
    const why = `model answered ${status}: it refuses the key or what it may be used for (OPENAI_API_KEY)`;
    return new StepFailure('never', 'unauthorised', why);
  }
  // Its account is empty: it says 429, but no wait will fill it.
  if (word === 'insufficient_quota') return new StepFailure('never', word, text);
  if (status === 429 || status === 503) {
    const retryAfterMs = parseRetryAfter(retryAfter, Date.now());
    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    return new StepFailure('busy', status === 429 ? 'rate-limited' : 'unavailable', text, options);
  }
  if (status >= 500) return new StepFailure('unknown', 'server-error', text);
  if (status < 400 || status === 408) return new StepFailure('unknown', 'bad-answer', text);
  return new StepFailure('never', word, text);
}

/** Shorter than this a key is no secret but a word that stands in for one, such as `none`. */
const MIN_SECRET_LENGTH = 8;

/** The failure without the key, wherever it came from, and without a cause that could hold it. */
export function withoutKey(failure: StepFailure, apiKey: string): StepFailure {
  const { failureClass, code, message, retryAfterMs } = failure;
  const secret = apiKey.length >= MIN_SECRET_LENGTH;
  const clean = (text: string) => (secret ? text.replaceAll(apiKey, '[key]') : text);
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new StepFailure(failureClass, clean(code), clean(message), options);
}
