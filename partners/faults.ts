import { z } from 'zod';
import { PARTNER_NAMES, type Model, type PartnerName, type Partners } from './contract.ts';

/** Every operation of every partner, by the name it has in the contract. */
export const OPERATIONS = {
  payments: ['charge', 'refund', 'findCharges'],
  bureau: ['enquire', 'screen'],
  warehouse: ['reserve', 'release'],
  supplier: ['search', 'quote', 'place', 'find', 'cancel'],
  mailer: ['send', 'find'],
  finance: ['available'],
  model: ['complete'],
} as const satisfies {
  [P in PartnerName]: readonly (keyof (Partners & { model: Model })[P])[];
};

/** setTimeout fires at once above this, so no wait may be longer. */
const MAX_WAIT_MS = 2 ** 31 - 1;
const waitMs = z.int().nonnegative().max(MAX_WAIT_MS);
const howMany = z.int().nonnegative();

/**
 * What goes wrong with a request the partner has read.
 * - `status`: answers without acting. `retryAfter` is seconds or an HTTP date; `body` replaces the
 *   usual error, and a string is sent as it is, so that an answer can be broken JSON.
 * - `delay`: works on it for so long, then acts and answers. A key is in progress meanwhile.
 * - `hang-before`: lies unread in the partner's in-tray until released, then acts, also when the
 *   caller is gone: the request lands late. No key is in progress meanwhile.
 * - `hang-after`: acts at once, answers when released.
 * - `drop-before`, `drop-after`: closes the connection without an answer, before or after acting.
 *
 * Hanging and delayed requests are released by hand, with their fault, or by themselves when
 * `landAfterMs` or `ms` is over.
 */
const faultEffectSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status: z.int().min(200).max(599),
    retryAfter: z.union([z.string(), howMany]).exactOptional(),
    body: z.json().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('delay'), ms: waitMs }),
  z.strictObject({ kind: z.literal('hang-before'), landAfterMs: waitMs.exactOptional() }),
  z.strictObject({ kind: z.literal('hang-after'), landAfterMs: waitMs.exactOptional() }),
  z.strictObject({ kind: z.literal('drop-before') }),
  z.strictObject({ kind: z.literal('drop-after') }),
]);

/** A fault to inject. Whatever is left out matches every request. */
export const faultSchema = z
  .strictObject({
    partner: z.enum(PARTNER_NAMES).exactOptional(),
    operation: z.string().exactOptional(),
    /** The order's business key, `buyer/ref`. A quote carries none: name its sku. */
    reference: z.string().exactOptional(),
    /** Matches when any line of the request has it. */
    sku: z.string().exactOptional(),
    /** Lets this many matching requests pass first. */
    skip: howMany.default(0),
    /** Strikes at most so often. Without a limit unless given. */
    times: howMany.exactOptional(),
    /** Strikes this share of the matching requests, 0 to 1. */
    rate: z.number().min(0).max(1).default(1),
    /** The same seed strikes the same requests, in whatever order they come. */
    seed: z.int().default(1),
    effect: faultEffectSchema,
  })
  .superRefine(({ partner, operation }, context) => {
    if (operation === undefined) return;
    const known: string[] = partner ? [...OPERATIONS[partner]] : Object.values(OPERATIONS).flat();
    if (known.includes(operation)) return;
    const where = partner ? `of ${partner}` : 'of any partner';
    const message = `no operation ${where}: use one of ${known.join(', ')}`;
    context.addIssue({ code: 'custom', path: ['operation'], message });
  });

export type FaultSpec = z.input<typeof faultSchema>;
export type Fault = z.output<typeof faultSchema>;
export type FaultEffect = Fault['effect'];

/** A fault as the partners list it: how many matching requests came by and how many it struck. */
export interface ListedFault {
  faultId: string;
  fault: Fault;
  seen: number;
  struck: number;
}

/** A request that a partner holds right now. */
export interface HeldRequest {
  faultId: string;
  partner: PartnerName;
  operation: string;
  reference?: string;
  key?: string;
  /** Real time, not the partner's clock: holding happens to sockets. ISO 8601. */
  since: string;
  acted: boolean;
  /** The connection is closed: whoever asked has died or given up. */
  callerGone: boolean;
}
