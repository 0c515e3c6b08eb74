import { z } from 'zod';
import { EFFECT_KINDS, PARTNER_NAMES } from '../contract.ts';
import { faultSchema } from '../faults.ts';
import { parse, type Desk } from './desk.ts';
import { Refusal } from './refusal.ts';

const filterSchema = z.strictObject({
  partner: z.enum(PARTNER_NAMES).optional(),
  kind: z.enum(EFFECT_KINDS).optional(),
  reference: z.string().optional(),
  orderRef: z.string().optional(),
  buyerId: z.string().optional(),
});

/** Beyond this the clock would leave the dates that ISO 8601 writes with four digits. */
const maxAdvanceMs = 100 * 365 * 24 * 60 * 60 * 1_000;
const advanceSchema = z.strictObject({
  advanceMs: z.int().nonnegative('time does not go back').max(maxAdvanceMs),
});

const releaseSchema = z.strictObject({ faultId: z.string().optional() });

/** A fault's body may be as long as any answer that a client reads. */
const bodyLimit = 6_000_000;

/** What a test, the lab or an operator asks, as opposed to an order: effects, clock, faults, holds. */
export function serveControl(desk: Desk, tornBytes: number): void {
  const { app, books } = desk;
  const clock = () => ({ now: new Date(books.nowMs()).toISOString() });

  app.get('/health', async () => ({ status: 'ok', tornBytes, ...clock() }));

  app.get('/effects', async (request) => ({
    effects: books.effects(parse(filterSchema, request.query)),
  }));
  app.get('/effects/counts', async (request) => {
    const counts = Object.fromEntries(EFFECT_KINDS.map((kind) => [kind, 0]));
    for (const { kind } of books.effects(parse(filterSchema, request.query))) {
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return { counts };
  });

  app.get('/control/clock', async () => clock());
  app.post('/control/clock', async (request) => {
    books.advance(parse(advanceSchema, request.body).advanceMs);
    return clock();
  });

  serveFaults(desk);
}

function serveFaults({ app, faults, holds }: Desk): void {
  app.post('/control/faults', { bodyLimit }, async (request, reply) => {
    void reply.code(201);
    return faults.set(parse(faultSchema, request.body));
  });
  app.get('/control/faults', async () => ({ faults: faults.list() }));
  app.get<{ Params: { faultId: string } }>('/control/faults/:faultId', async ({ params }) => {
    const found = faults.list().find(({ faultId }) => faultId === params.faultId);
    return found ?? noSuchFault(params.faultId);
  });
  app.delete('/control/faults', async () => {
    const cleared = faults.clear().length;
    return { cleared, released: holds.release() };
  });
  app.delete<{ Params: { faultId: string } }>('/control/faults/:faultId', async ({ params }) => {
    const cleared = faults.clear(params.faultId).length;
    if (cleared === 0) noSuchFault(params.faultId);
    return { cleared, released: holds.release(params.faultId) };
  });

  app.get('/control/held', async () => ({ held: holds.list() }));
  app.post('/control/release', async (request) => ({
    released: holds.release(parse(releaseSchema, request.body).faultId),
  }));
}

function noSuchFault(faultId: string): never {
  throw new Refusal(404, 'no-such-fault', `no fault ${faultId}: GET /control/faults lists them`);
}
