import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ApplicationFailure } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { partnerActivities } from '../../activities/index.ts';
import type { PartnerActivities } from '../../activities/index.ts';
import { openInvoices } from '../../activities/invoices.ts';
import type { Invoices } from '../../activities/invoices.ts';
import { businessKey } from '../../core/identity.ts';
import { connectPartners } from '../../partners/clients/connect.ts';
import type { Partners } from '../../partners/contract.ts';
import { controlPartners } from '../../partners/control.ts';
import type { PartnersControl } from '../../partners/control.ts';
import { startPartners } from '../../partners/server/server.ts';
import { emptyDatabase } from '../support/postgres.ts';
import { quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';

const DAY = 86_400_000;
const amount = { currency: 'EUR', minor: 4_000 };
// A busy machine stops this process for a while: short heartbeats would take it for a silent one.
const limits = { ...quickPolicy, partnerTimeoutMs: 500, settleMs: 400, heartbeatMs: 10_000 };

let server: Awaited<ReturnType<typeof startPartners>>;
let control: PartnersControl;
let partners: Partners;
let invoices: Invoices;
let database: Awaited<ReturnType<typeof emptyDatabase>>;
let activities: PartnerActivities;
before(async () => {
  server = await startPartners();
  control = controlPartners(server.url);
  partners = connectPartners({ baseUrl: server.url });
  database = await emptyDatabase();
  invoices = await openInvoices(database.url);
  activities = partnerActivities({ partners, invoices });
});
after(async () => {
  await partners.close();
  await invoices.close();
  await server.close();
  await database.drop();
});

let orders = 0;
/** A call for an order that no other test uses. */
function call() {
  const id = { buyerId: 'acme', orderRef: `A-${++orders}` };
  return { id, reference: businessKey(id), input: { id, revision: 1, again: false, limits } };
}

/** Runs one attempt as the worker would. */
function attempt<I, O>(activity: (input: I) => Promise<O>, input: I, info: Partial<Info> = {}) {
  const environment = new MockActivityEnvironment({ attempt: 1, ...info });
  const result: Promise<O> = environment.run<[I], O, (input: I) => Promise<O>>(activity, input);
  return { environment, result };
}

async function failureOf(result: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await result.then(
    () => assert.fail('the attempt succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApplicationFailure, String(error));
  return error;
}

const place = { supplierId: 'sup_881', lines: [{ sku: 'SN-1', quantity: '10', unit: 'NAR' }] };
const goods = [{ sku: 'SN-1', quantity: '10' }];
const lost = (operation: string, reference: string) =>
  control.setFault({ operation, reference, times: 1, effect: { kind: 'drop-after' } });

describe('a failed attempt tells the server', () => {
  test('its class, and to wait as long as the partner asked, when that is busy', async () => {
    const { input, reference } = call();
    await control.setFault({
      partner: 'bureau',
      reference,
      effect: { kind: 'status', status: 429, retryAfter: 7 },
    });
    const failure = await failureOf(attempt(activities.bureau.credit, { ...input, amount }).result);
    assert.deepEqual([failure.type, failure.nonRetryable], ['busy', false]);
    assert.ok(Number(failure.nextRetryDelay) >= 7_000);
  });

  test('that no attempt can help, when the partner refused or the request was wrong', async () => {
    const declined = { ...call().input, id: { buyerId: 'declined', orderRef: 'A' }, amount };
    const refused = await failureOf(attempt(activities.payments.charge, declined).result);
    assert.deepEqual([refused.type, refused.nonRetryable], ['refused', true]);
    const { input, reference } = call();
    await control.setFault({ reference, effect: { kind: 'status', status: 400 } });
    const wrong = await failureOf(attempt(activities.bureau.credit, { ...input, amount }).result);
    assert.deepEqual([wrong.type, wrong.nonRetryable], ['never', true]);
  });

  test('B32: that the budget is used up, with the last attempt that the policy has', async () => {
    const { input, reference } = call();
    await control.setFault({ reference, effect: { kind: 'status', status: 503 } });
    const charge = { ...input, amount };
    const info = { attempt: limits.maxAttempts - 1 };
    assert.equal(
      (await failureOf(attempt(activities.bureau.credit, charge, info).result)).nonRetryable,
      false,
    );
    const last = { attempt: limits.maxAttempts };
    assert.equal(
      (await failureOf(attempt(activities.bureau.credit, charge, last).result)).nonRetryable,
      true,
    );
  });

  test('B31: nothing as success that was none: the error is thrown, not returned', async () => {
    const { input, reference } = call();
    await control.setFault({ reference, times: 2, effect: { kind: 'status', status: 503 } });
    const enquiry = { ...input, amount };
    await failureOf(attempt(activities.bureau.credit, enquiry).result);
    await failureOf(attempt(activities.bureau.credit, enquiry, { attempt: 2 }).result);
    const score = await attempt(activities.bureau.credit, enquiry, { attempt: 3 }).result;
    assert.ok(score > 0);
  });

  test('that a request with no answer in time has an unknown outcome', async () => {
    const { input, reference } = call();
    const fault = await control.setFault({ reference, effect: { kind: 'hang-after' } });
    const failure = await failureOf(attempt(activities.bureau.credit, { ...input, amount }).result);
    assert.equal(failure.type, 'unknown');
    await control.clearFault(fault);
  });
});

describe('ask before act', () => {
  test('an order whose answer was lost is found by its reference, and not placed twice', async () => {
    const { input, reference } = call();
    await lost('place', reference);
    await failureOf(attempt(activities.supplier.place, { ...input, ...place }).result);
    await attempt(activities.supplier.place, { ...input, ...place }, { attempt: 2 }).result;
    assert.equal((await control.counts(reference)).order, 1);
  });

  test('a request of a dead worker that lands late is waited for before the supplier is asked', async () => {
    const { input, reference } = call();
    const landAfterMs = limits.partnerTimeoutMs + limits.settleMs / 2;
    const effect = { kind: 'hang-before', landAfterMs } as const;
    await control.setFault({ operation: 'place', reference, times: 1, effect });
    await failureOf(attempt(activities.supplier.place, { ...input, ...place }).result);
    await attempt(activities.supplier.place, { ...input, ...place }, { attempt: 2 }).result;
    assert.equal((await control.counts(reference)).order, 1);
  });

  test('a mail whose answer was lost is not sent twice, and its invoice is issued once', async () => {
    const { input, reference } = call();
    const invoice = { ...input, amount, amountText: 'EUR 40.00', to: 'a@acme.example' };
    await lost('send', reference);
    await failureOf(attempt(activities.mailer.invoice, invoice).result);
    const first = await attempt(activities.mailer.invoice, invoice, { attempt: 2 }).result;
    const again = await attempt(activities.mailer.invoice, { ...invoice, again: true }).result;
    assert.equal(first, again);
    assert.equal((await control.counts(reference)).mail, 1);
  });

  test('a charge replayed after the key has expired is found on the statement, and not made twice', async () => {
    const { input, reference } = call();
    const charge = { ...input, amount };
    const first = await attempt(activities.payments.charge, charge).result;
    await control.advanceClock(2 * DAY);
    assert.equal(await attempt(activities.payments.charge, charge).result, first);
    assert.equal((await control.counts(reference)).charge, 1);
  });

  test('a refund of a charge that is still on its way waits until it has landed', async () => {
    const { input, reference } = call();
    const landAfterMs = limits.partnerTimeoutMs + limits.settleMs / 2;
    const effect = { kind: 'hang-before', landAfterMs } as const;
    await control.setFault({ operation: 'charge', reference, times: 1, effect });
    await failureOf(attempt(activities.payments.charge, { ...input, amount }).result);
    assert.notEqual(
      await attempt(activities.payments.refund, { ...input, again: true }).result,
      null,
    );
    const { charge, refund } = await control.counts(reference);
    assert.deepEqual({ charge, refund }, { charge: 1, refund: 1 });
  });
});

describe('an undo', () => {
  test('of something that never happened says so, and does nothing', async () => {
    const { input, reference } = call();
    assert.equal(await attempt(activities.warehouse.release, input).result, false);
    assert.equal(await attempt(activities.payments.refund, input).result, null);
    const cancel = { ...input, supplierId: 'sup_881' };
    assert.equal(await attempt(activities.supplier.cancel, cancel).result, 0);
    assert.deepEqual(await control.effects(reference), []);
  });

  test('done twice is done once', async () => {
    const { input, reference } = call();
    await attempt(activities.supplier.place, { ...input, ...place }).result;
    await attempt(activities.payments.charge, { ...input, amount }).result;
    await attempt(activities.warehouse.reserve, { ...input, lines: goods }).result;
    for (const info of [{ attempt: 1 }, { attempt: 2 }]) {
      const cancelled = await attempt(
        activities.supplier.cancel,
        { ...input, supplierId: 'sup_881' },
        info,
      ).result;
      assert.equal(cancelled, 1);
      assert.notEqual(await attempt(activities.payments.refund, input, info).result, null);
      assert.equal(await attempt(activities.warehouse.release, input, info).result, true);
    }
    const { cancel, refund, release } = await control.counts(reference);
    assert.deepEqual({ cancel, refund, release }, { cancel: 1, refund: 1, release: 1 });
  });
});

describe('while it works, an activity', () => {
  test('heartbeats', async () => {
    const { input, reference } = call();
    const fault = await control.setFault({ reference, effect: { kind: 'hang-after' } });
    const slowly = { ...limits, partnerTimeoutMs: 20_000, heartbeatMs: 2_000 };
    const enquiry = { ...input, amount, limits: slowly };
    const { environment, result } = attempt(activities.bureau.credit, enquiry);
    let beats = 0;
    environment.on('heartbeat', () => beats++);
    await until('three heartbeats', () => beats >= 3);
    await control.clearFault(fault);
    await result;
  });

  test('lets a request that acts report before it ends, although it is cancelled', async () => {
    const { input, reference } = call();
    const faultId = await control.setFault({ reference, effect: { kind: 'hang-after' } });
    const charge = { ...input, amount, limits: { ...limits, partnerTimeoutMs: 20_000 } };
    const { environment, result } = attempt(activities.bureau.credit, charge);
    await control.waitUntilHeld({ faultId }, 10_000);
    environment.cancel();
    await control.clearFault(faultId);
    assert.ok((await result) > 0);
  });

  test('ends at once when it only waits or asks', async () => {
    const { input } = call();
    const slow = { ...input, again: true, limits: { ...limits, settleMs: 3_600_000 } };
    const { environment, result } = attempt(activities.payments.refund, slow);
    environment.cancel();
    await assert.rejects(result, CancelledFailure);
  });
});

describe('an invoice', () => {
  test('issued at the same time by ten attempts is one row with one number', async () => {
    const { id, reference } = call();
    const issue = () => invoices.issue({ effectKey: `${reference}/r1/invoice`, id, amount });
    // An attempt that loses the race is busy, and finds the row when it tries again.
    const numbers = await Promise.all(Array.from({ length: 10 }, () => issue().catch(issue)));
    assert.equal(new Set(numbers.map(({ invoiceNumber }) => invoiceNumber)).size, 1);
  });

  test('under a key that was used for another amount is refused for good', async () => {
    const { id, reference } = call();
    const effectKey = `${reference}/r1/invoice`;
    await invoices.issue({ effectKey, id, amount });
    const other = { effectKey, id, amount: { ...amount, minor: 1 } };
    await assert.rejects(invoices.issue(other), {
      failureClass: 'never',
      code: 'invoice-mismatch',
    });
  });

  test("has its table made once by workers that start together, and a database that is away is 'unknown'", async () => {
    const own = await emptyDatabase();
    const opened = await Promise.all(Array.from({ length: 5 }, () => openInvoices(own.url)));
    await Promise.all(opened.slice(1).map((each) => each.close()));
    await own.drop();
    const { id } = call();
    const issue = opened[0]?.issue({ effectKey: 'k', id, amount });
    await assert.rejects(issue ?? Promise.resolve(), { failureClass: 'unknown' });
    await opened[0]?.close();
  });
});
