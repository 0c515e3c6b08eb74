import type { Partners } from '../contract.ts';
import { bureauClient } from './bureau.ts';
import { connectHttp } from './http.ts';
import { mailerClient } from './mailer.ts';
import { paymentsClient } from './payments.ts';
import { supplierClient } from './supplier.ts';
import { warehouseClient } from './warehouse.ts';

/**
 * Clients for the partners at `baseUrl`. Nothing is sent before the first call; `close` ends the
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
    close: () => http.close(),
  };
}
