import { createHash } from 'node:crypto';
import { canonicalJson } from '../core/order/canonical.ts';
import type { Order } from '../core/order/schema.ts';

/** What tells a conflict from "already there" when the same order is submitted again. A workflow has no hashes. */
export async function contentHash(order: Order): Promise<string> {
  return createHash('sha256').update(canonicalJson(order)).digest('hex');
}
