import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { StepFailure, type FailureClass } from '../../../core/failures.ts';
import { connectPartners } from '../../../partners/clients/connect.ts';
import type { Call, Partners } from '../../../partners/contract.ts';
import { controlPartners, type PartnersControl } from '../../../partners/control.ts';
import { startPartners, type PartnersOptions } from '../../../partners/server/server.ts';
import { until } from '../../support/until.ts';

export const call: Call = { timeoutMs: 10_000 };
/** For a call that is meant to run into it. */
export const shortCall: Call = { timeoutMs: 1_000 };

export interface Running {
  url: string;
  partners: Partners;
  control: PartnersControl;
  close(): Promise<void>;
}

/** A partner server of the test's own, with clients; all of it ends with the test. */
export async function running(t: TestContext, options: PartnersOptions = {}): Promise<Running> {
  const server = await startPartners(options);
  const partners = connectPartners({ baseUrl: server.url });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= partners.close().then(() => server.close()));
  t.after(close);
  return { url: server.url, partners, control: controlPartners(server.url), close };
}

/** The StepFailure that `attempt` ends with; anything else fails the test. */
export async function failureOf(attempt: Promise<unknown>): Promise<StepFailure> {
  try {
    await attempt;
  } catch (error) {
    assert.ok(error instanceof StepFailure, `not a StepFailure: ${String(error)}`);
    return error;
  }
  throw new assert.AssertionError({ message: 'it succeeded' });
}

export async function failsAs(
  attempt: Promise<unknown>,
  failureClass: FailureClass,
  code: string,
): Promise<StepFailure> {
  const failure = await failureOf(attempt);
  assert.deepEqual([failure.failureClass, failure.code], [failureClass, code], failure.message);
  return failure;
}

/** Waits, with a limit, until two requests are held at the same time. */
export async function waitUntilTwoHeld(control: PartnersControl): Promise<void> {
  await until('two held requests', async () => (await control.held()).length >= 2);
}

/** What an order would ask of each partner, with the keys it would use. */
export function requests(reference: string) {
  const key = (step: string) => `${reference}/r1/${step}`;
  const lines = [{ sku: 'SN-33', quantity: '2.5', unit: 'NAR' }];
  return {
    charge: { key: key('charge'), reference, amount: { currency: 'EUR', minor: 4_000 } },
    refund: { key: key('refund'), reference, chargeKey: key('charge') },
    findCharges: { key: key('charge'), reference },
    enquire: {
      key: key('credit'),
      reference,
      buyerId: reference.split('/')[0] ?? '',
      amount: { currency: 'EUR', minor: 4_000 },
    },
    reserve: { key: key('reserve'), reference, lines: [{ sku: 'SN-33', quantity: '2.5' }] },
    release: { key: key('release'), reference, reservationKey: key('reserve') },
    quote: { supplierId: 'sup_881', sku: 'SN-33', currency: 'EUR' },
    place: { supplierId: 'sup_881', reference, supplierReference: key('place'), lines },
    findOrders: { supplierId: 'sup_881', supplierReference: key('place') },
    mail: {
      messageId: key('invoice'),
      reference,
      to: 'buyer@example.org',
      subject: 'Invoice',
      text: 'Thank you',
    },
    findMails: { messageId: key('invoice') },
  };
}
