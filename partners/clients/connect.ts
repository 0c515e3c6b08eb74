import type { Partners } from '../contract.ts';
import { bureauClient } from './bureau.ts';
import { financeClient } from './finance.ts';
import { connectHttp } from './http.ts';
import { mailerClient } from './mailer.ts';
import { paymentsClient } from './payments.ts';
import { supplierClient } from './supplier.ts';
import { warehouseClient } from './warehouse.ts';

/**
 * Clients for the partners at `baseUrl`, all but the model, which has an address of its own. Nothing is sent before the first call; `close` ends the
 * connections. Throws TypeError when `baseUrl` is no URL.
 */
export function connectPartners({ baseUrl }: { baseUrl: string }): Partners {
  const http = connectHttp(baseUrl);
  return {
    payments: paymentsClient(http),
    bureau: bureauClient(http),
    warehouse: warehouseClient(http),
    supplier: supplierClient(http),
    mailer: mailerClient(http),
    finance: financeClient(http),
    close: () => http.close(),
  };
}
