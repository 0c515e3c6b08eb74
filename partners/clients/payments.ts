import { z } from 'zod';
import type { Payments } from '../contract.ts';
import type { Http } from './http.ts';

const charge = z.object({ chargeId: z.string() });
const refund = z.object({ refundId: z.string().nullable() });
const statement = z.object({ charges: z.array(charge) });

export function paymentsClient(http: Http): Payments {
  const partner = 'payments';
  return {
    charge: ({ key, ...body }, call) =>
      http.ask({ partner, path: 'payments/charges', key, body, promised: charge }, call),
    refund: ({ key, ...body }, call) =>
      http.ask({ partner, path: 'payments/refunds', key, body, promised: refund }, call),
    findCharges: async (query, call) =>
      (await http.ask({ partner, path: 'payments/charges', query, promised: statement }, call))
        .charges,
  };
}
