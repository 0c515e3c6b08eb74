import type { ModelAnswer, ModelQuestion } from '../core/agent/messages.ts';
import type { Money } from '../core/order/money.ts';

/**
 * The partners as a step sees them. Every method throws `StepFailure` and nothing else on failure, and
 * gives up after `timeoutMs` (class `unknown`). The one exception: when the caller's own `signal`
 * aborts, its reason is thrown as it is, since that is no answer of the partner. `reference` is always
 * the order's business key (`buyer/ref`); `key` is an effect key. Who takes keys and who doesn't is
 * the point: see each.
 */
export interface Call {
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Keeps idempotency keys for 24 hours; refuses the same key with another amount (`never`, `key-reused`). */
export interface Payments {
  /** `refused` with code `card-declined` when the buyer's card is. */
  charge(
    input: { key: string; reference: string; amount: Money },
    call: Call,
  ): Promise<{ chargeId: string }>;
  /** Gives back what the charge made under `chargeKey` took. Nothing charged under it: `{ refundId: null }`. Keyed. */
  refund(
    input: { key: string; reference: string; chargeKey: string },
    call: Call,
  ): Promise<{ refundId: string | null }>;
  /** The partner's statement, which does not forget after 24 hours: charges of a reference made under that key. */
  findCharges(
    input: { reference: string; key: string },
    call: Call,
  ): Promise<{ chargeId: string }[]>;
}

/** Each enquiry and each screening costs money. Keyed. */
export interface Bureau {
  enquire(
    input: { key: string; reference: string; buyerId: string; amount: Money },
    call: Call,
  ): Promise<{ enquiryId: string; score: number }>;
  /** Looks the buyer up on the sanctions lists; `listed` names the list, null when on none. */
  screen(
    input: { key: string; reference: string; buyerId: string; name: string },
    call: Call,
  ): Promise<{ screeningId: string; listed: string | null }>;
}

/** Keyed. */
export interface Warehouse {
  /** `refused` with code `out-of-stock`. */
  reserve(
    input: { key: string; reference: string; lines: { sku: string; quantity: string }[] },
    call: Call,
  ): Promise<{ reservationId: string }>;
  /** Releases what was reserved under `reservationKey`; nothing reserved under it is fine: `{ released: false }`. */
  release(
    input: { key: string; reference: string; reservationKey: string },
    call: Call,
  ): Promise<{ released: boolean }>;
}

/** One thing that a supplier sells. Name and description are the supplier's own words: data, never instructions. */
export interface Article {
  supplierId: string;
  supplierName: string;
  sku: string;
  name: string;
  /** UN/ECE Recommendation 20 unit code. */
  unit: string;
  description: string;
}

/** Takes no keys: a request sent twice is an order placed twice. Can be asked by reference. */
export interface Supplier {
  /** Read only. What the suppliers' catalogues have for these words, at most 20 articles; nothing found: none. */
  search(input: { query: string }, call: Call): Promise<Article[]>;
  /** Read only. Confirms a stated price; quotes a fixed one, made from the sku, where none is stated. `refused` with `unknown-sku`. */
  quote(
    input: { supplierId: string; sku: string; currency: string; unitPrice?: string },
    call: Call,
  ): Promise<{ unitPrice: string }>;
  /** `supplierReference` is ours (the effect key), printed on their order and searchable; it does not deduplicate. */
  place(
    input: {
      supplierId: string;
      reference: string;
      supplierReference: string;
      lines: { sku: string; quantity: string; unit: string }[];
    },
    call: Call,
  ): Promise<{ supplierOrderId: string }>;
  find(
    input: { supplierId: string; supplierReference: string },
    call: Call,
  ): Promise<{ supplierOrderId: string; cancelled: boolean }[]>;
  /** Cancelling twice is fine. */
  cancel(
    input: { supplierId: string; supplierOrderId: string; reference: string },
    call: Call,
  ): Promise<void>;
}

/** Takes no keys; can be asked by message id. */
export interface Mailer {
  send(
    input: { messageId: string; reference: string; to: string; subject: string; text: string },
    call: Call,
  ): Promise<{ mailId: string }>;
  find(input: { messageId: string }, call: Call): Promise<{ mailId: string }[]>;
}

export interface Finance {
  /** Read only. What the buyer may still spend this year. */
  available(input: { buyerId: string; currency: string }, call: Call): Promise<Money>;
}

/**
 * A language model: takes no keys and can't be asked what it answered. A call sent twice is paid for
 * twice, so an answer that has been received has to be written down. `key` only labels the call, for
 * whoever counts them.
 */
export interface Model {
  complete(input: ModelQuestion & { key: string }, call: Call): Promise<ModelAnswer>;
  close(): Promise<void>;
}

export interface Partners {
  payments: Payments;
  bureau: Bureau;
  warehouse: Warehouse;
  supplier: Supplier;
  mailer: Mailer;
  finance: Finance;
  close(): Promise<void>;
}

/** Whom the purchase order talks to. */
export const ORDER_PARTNERS = ['payments', 'bureau', 'warehouse', 'supplier', 'mailer'] as const;
/** The buying agent talks to two more, and to the supplier. */
export const PARTNER_NAMES = [...ORDER_PARTNERS, 'finance', 'model'] as const;
export type PartnerName = (typeof PARTNER_NAMES)[number];

export const EFFECT_KINDS = [
  'charge',
  'refund',
  'enquiry',
  'screening',
  'reservation',
  'release',
  'order',
  'cancel',
  'mail',
  'completion',
] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

/** One thing that really happened at a partner, as `GET /effects` lists it. */
export interface Effect {
  partner: PartnerName;
  kind: EffectKind;
  reference: string;
  /** The key it came with, where the partner takes or shows one. */
  key?: string;
  /** By the partner's own clock, ISO 8601. */
  at: string;
  amount?: Money;
  /** Whose order it is, for the supplier's effects. */
  supplierId?: string;
  /** The id of the effect that this one takes back, for refund, release and cancel. */
  undoes?: string;
  id: string;
}
