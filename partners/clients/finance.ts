import { z } from 'zod';
import type { Finance } from '../contract.ts';
import type { Http } from './http.ts';

const money = z.object({ currency: z.string(), minor: z.int() });
const budget = z.object({ available: money });

export function financeClient(http: Http): Finance {
  return {
    available: async (query, call) =>
      (
        await http.ask(
          { partner: 'finance', path: 'finance/budgets', query, promised: budget },
          call,
        )
      ).available,
  };
}
