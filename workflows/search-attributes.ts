import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

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

export const searchAttributes = [
  orderRefKey,
  orderBuyerKey,
  orderStepKey,
  orderStatusKey,
  orderOutcomeKey,
  orderWaitsForKey,
  orderWaitsUntilKey,
] as const;

/** The workflow type and the task queue of orders. */
export const ORDER_WORKFLOW = 'purchaseOrder';
export const ORDER_TASK_QUEUE = 'orders';

/** Memo fields: `position` is what `where` answers from without a worker; `contentHash` tells a conflict from "already there". */
export const MEMO_POSITION = 'position';
export const MEMO_CONTENT_HASH = 'contentHash';
