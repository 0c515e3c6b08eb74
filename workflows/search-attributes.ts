import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { SearchAttributePair, SearchAttributeUpdatePair } from '@temporalio/common';
import type { RunPosition, WaitingFor } from '../core/contract.ts';

/**
 * What `temporal workflow list` and the web page can filter on. Registered when the stack or a worker
 * starts. SQL visibility stores have only three columns for Datetime attributes, of which this takes one.
 */
export const orderRefKey = defineSearchAttributeKey('OrderRef', SearchAttributeType.KEYWORD);
export const orderBuyerKey = defineSearchAttributeKey('OrderBuyer', SearchAttributeType.KEYWORD);
export const orderStepKey = defineSearchAttributeKey('OrderStep', SearchAttributeType.KEYWORD);
export const orderStatusKey = defineSearchAttributeKey('OrderStatus', SearchAttributeType.KEYWORD);
export const orderOutcomeKey = defineSearchAttributeKey(
  'OrderOutcome',
  SearchAttributeType.KEYWORD,
);
export const orderWaitsForKey = defineSearchAttributeKey(
  'OrderWaitsFor',
  SearchAttributeType.KEYWORD,
);
export const orderWaitsUntilKey = defineSearchAttributeKey(
  'OrderWaitsUntil',
  SearchAttributeType.DATETIME,
);

export const searchAttributes = Object.freeze([
  orderRefKey,
  orderBuyerKey,
  orderStepKey,
  orderStatusKey,
  orderOutcomeKey,
  orderWaitsForKey,
  orderWaitsUntilKey,
]);

/**
 * A buyer's text as a search attribute. SQL visibility stores never find a value with a double quote or
 * a backslash in it again, however the query writes it (server 1.32, tried), so those are escaped, as
 * %XX; ordinary references stay as they are.
 */
export function searchable(text: string): string {
  return text.replace(/[%"'\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The reverse of `searchable`. */
export function fromSearchable(value: string): string {
  return value.replace(/%([0-9A-F]{2})/g, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
}

/** What a run starts with, so that lists know it before any worker has seen it. */
export function initialAttributes({ id, step, status }: RunPosition): SearchAttributePair[] {
  return [
    { key: orderRefKey, value: searchable(id.orderRef) },
    { key: orderBuyerKey, value: searchable(id.buyerId) },
    { key: orderStepKey, value: step },
    { key: orderStatusKey, value: status },
  ];
}

/** The attributes that follow a run's position; null takes one away. */
export function positionAttributes(position: RunPosition): SearchAttributeUpdatePair[] {
  const { step, status, outcome, waitingFor } = position;
  const until = waitingFor && 'until' in waitingFor ? waitingFor.until : undefined;
  return [
    { key: orderStepKey, value: step },
    { key: orderStatusKey, value: status },
    { key: orderOutcomeKey, value: outcome ?? null },
    { key: orderWaitsForKey, value: waitingFor ? whom(waitingFor) : null },
    { key: orderWaitsUntilKey, value: until === undefined ? null : new Date(until) },
  ];
}

function whom(waitingFor: WaitingFor): string {
  return waitingFor.kind === 'person' ? waitingFor.who : waitingFor.kind;
}

/** The workflow types, which tell runs of the two kinds apart, and the task queue of both. */
export const ORDER_WORKFLOW = 'purchaseOrder';
export const AGENT_WORKFLOW = 'buyingAgent';
export const ORDER_TASK_QUEUE = 'orders';

/**
 * Memo fields. `position` is what `where` answers from without a worker; `contentHash` tells a
 * conflict from "already there"; `failures` is what made a stuck run stuck; `transcript` is where in the
 * claim-check store an agent's is.
 */
export const MEMO_POSITION = 'position';
export const MEMO_CONTENT_HASH = 'contentHash';
export const MEMO_FAILURES = 'failures';
export const MEMO_TRANSCRIPT = 'transcript';
