import { z } from 'zod';
import { NotYet } from '../ledger/effect.ts';
import type { ChildCode } from '../joins/work-on-child.ts';
import { waitForPartner } from '../limits/partner-limit.ts';

const lineSchema = z.object({
  supplierId: z.string(),
  currency: z.string(),
  sku: z.string(),
  unitPrice: z.string().optional(),
});

/** One line's unit price, confirmed or quoted by the supplier. Reads only, so it needs no ledger. */
export const priceLine: ChildCode = async (engine, child, { policy, signal }) => {
  const pauseMs = await waitForPartner(engine.pool, 'supplier');
  if (pauseMs > 0) throw new NotYet(pauseMs, 'supplier asked everybody to wait');
  const { unitPrice, ...line } = lineSchema.parse(child.input);
  const asked = unitPrice === undefined ? line : { ...line, unitPrice };
  const call = { timeoutMs: policy.partnerTimeoutMs, signal };
  return { value: (await engine.partners.supplier.quote(asked, call)).unitPrice };
};
