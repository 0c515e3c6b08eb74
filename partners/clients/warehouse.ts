import { z } from 'zod';
import type { Warehouse } from '../contract.ts';
import type { Http } from './http.ts';

const reservation = z.object({ reservationId: z.string() });
const release = z.object({ released: z.boolean() });

export function warehouseClient(http: Http): Warehouse {
  const partner = 'warehouse';
  return {
    reserve: ({ key, ...body }, call) =>
      http.ask({ partner, path: 'warehouse/reservations', key, body, promised: reservation }, call),
    release: ({ key, ...body }, call) =>
      http.ask({ partner, path: 'warehouse/releases', key, body, promised: release }, call),
  };
}
