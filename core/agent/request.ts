import { z } from 'zod';
import { MAX_ENCODED_ID_LENGTH, MAX_ID_LENGTH } from '../identity.ts';
import { boundFaults } from '../order/fault.ts';
import type { Fault } from '../order/fault.ts';
import { faultOfIssue } from '../order/issues.ts';
import { currencyCode, email, orderIdentifier, text } from '../order/text.ts';
import { ORDER_SUFFIX } from './identity.ts';

/** The order that comes of a request is named after it, so the request's own name must leave room. */
const requestIdentifier = orderIdentifier.superRefine((ref, ctx) => {
  const most = MAX_ID_LENGTH - ORDER_SUFFIX.length;
  const mostEncoded = MAX_ENCODED_ID_LENGTH - ORDER_SUFFIX.length;
  if (!ref.isWellFormed()) return;
  if (ref.length <= most && encodeURIComponent(ref).length <= mostEncoded) return;
  ctx.addIssue({
    code: 'custom',
    message: `leaves no room for "${ORDER_SUFFIX}", with which its order is named`,
    params: { hint: `at most ${most} characters, ${mostEncoded} when percent-encoded` },
  });
});

/** A request comes from a keyboard: where its lines end means nothing. */
const words = z.preprocess(
  (value) => (typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : value),
  text(4_000),
);

/** What somebody wants bought, in words. */
export const requestSchema = z.strictObject({
  requestRef: requestIdentifier,
  buyer: z.strictObject({ id: orderIdentifier, name: text(200), email }),
  text: words,
  /** Of the order: quotes are asked for in it. */
  currency: currencyCode,
});
export type AgentRequest = z.infer<typeof requestSchema>;

export type RequestResult = { ok: true; request: AgentRequest } | { ok: false; faults: Fault[] };

/** The door for every request: checks it, and returns it in canonical form or every fault. Never throws. */
export function parseRequest(input: unknown): RequestResult {
  const parsed = requestSchema.safeParse(input);
  if (parsed.success) return { ok: true, request: parsed.data };
  const faults = parsed.error.issues.flatMap((issue) => faultOfIssue(issue, input));
  return { ok: false, faults: boundFaults(faults) };
}
