import { z } from 'zod';
import type { Supplier } from '../contract.ts';
import type { Http } from './http.ts';

const quote = z.object({ unitPrice: z.string().regex(/^\d{1,20}(\.\d{1,20})?$/) });
const articles = z.object({
  articles: z.array(
    z.object({
      supplierId: z.string(),
      supplierName: z.string(),
      sku: z.string(),
      name: z.string(),
      unit: z.string(),
      description: z.string(),
    }),
  ),
});
const placed = z.object({ supplierOrderId: z.string() });
const found = z.object({ orders: z.array(placed.extend({ cancelled: z.boolean() })) });
const cancelled = z.object({ cancelled: z.literal(true) });

export function supplierClient(http: Http): Supplier {
  const partner = 'supplier';
  return {
    search: async (query, call) =>
      (await http.ask({ partner, path: 'supplier/articles', query, promised: articles }, call))
        .articles,
    quote: (query, call) =>
      http.ask({ partner, path: 'supplier/quotes', query: { ...query }, promised: quote }, call),
    place: (body, call) =>
      http.ask({ partner, path: 'supplier/orders', body, promised: placed }, call),
    find: async (query, call) =>
      (await http.ask({ partner, path: 'supplier/orders', query, promised: found }, call)).orders,
    cancel: async (body, call) => {
      await http.ask({ partner, path: 'supplier/cancellations', body, promised: cancelled }, call);
    },
  };
}
