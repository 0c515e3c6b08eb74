import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, failsAs, requests, running, waitUntilTwoHeld } from './running.ts';

const reference = 'acme/PO-1';
const { charge, refund, findCharges } = requests(reference);
const hourMs = 60 * 60 * 1_000;

test('a charge under the same key is made once and answered the same', async (t) => {
  const { partners, control } = await running(t);
  const first = await partners.payments.charge(charge, call);
  const second = await partners.payments.charge(charge, call);
  assert.deepEqual(second, first);
  const [effect, ...more] = await control.effects(reference);
  assert.equal(more.length, 0);
  assert.deepEqual(
    { ...effect, at: 'some time' },
    {
      partner: 'payments',
      kind: 'charge',
      reference,
      key: charge.key,
      amount: charge.amount,
      at: 'some time',
      id: first.chargeId,
    },
  );
});

test('a key that comes with another amount is refused for good and charges nothing', async (t) => {
  const { partners, control } = await running(t);
  await partners.payments.charge(charge, call);
  const dearer = { ...charge, amount: { currency: 'EUR', minor: 4_001 } };
  await failsAs(partners.payments.charge(dearer, call), 'never', 'key-reused');
  assert.equal((await control.counts(reference)).charge, 1);
});

test('a key is kept for 24 hours of the partner’s own clock and not a moment longer', async (t) => {
  const { partners, control } = await running(t);
  const first = await partners.payments.charge(charge, call);
  // A minute of slack: the clock goes on by itself while the test runs.
  await control.advanceClock(24 * hourMs - 60_000);
  assert.deepEqual(await partners.payments.charge(charge, call), first);
  await control.advanceClock(60_000);
  const late = await partners.payments.charge(charge, call);
  assert.notEqual(late.chargeId, first.chargeId);
  assert.equal((await control.counts(reference)).charge, 2);
});

test('an expired key may come with another amount', async (t) => {
  const { partners, control } = await running(t);
  await partners.payments.charge(charge, call);
  await control.advanceClock(24 * hourMs);
  const other = { ...charge, amount: { currency: 'EUR', minor: 1 } };
  await partners.payments.charge(other, call);
  const amounts = (await control.effects(reference)).map(({ amount }) => amount?.minor);
  assert.deepEqual(amounts, [4_000, 1]);
});

test('a request whose key is in progress is told so, as busy, and charges nothing', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ operation: 'charge', effect: { kind: 'delay', ms: 3_600_000 } });
  const slow = partners.payments.charge(charge, call);
  await control.waitUntilHeld({ operation: 'charge', acted: false }, 5_000);
  await failsAs(partners.payments.charge(charge, call), 'busy', 'in-progress');
  await control.clearFault();
  assert.deepEqual(await partners.payments.charge(charge, call), await slow);
  assert.equal((await control.counts(reference)).charge, 1);
});

test('two requests with different keys are in progress side by side', async (t) => {
  const { partners, control } = await running(t);
  await control.setFault({ effect: { kind: 'delay', ms: 3_600_000 } });
  const one = partners.payments.charge(charge, call);
  const other = partners.payments.charge({ ...charge, key: 'acme/PO-1/r2/charge' }, call);
  await waitUntilTwoHeld(control);
  await control.clearFault();
  assert.notEqual((await one).chargeId, (await other).chargeId);
});

test('the card of a buyer whose id starts with "declined" is declined, and nothing is charged', async (t) => {
  const { partners, control } = await running(t);
  const declined = requests('declined-7/PO-1').charge;
  const failure = await failsAs(
    partners.payments.charge(declined, call),
    'refused',
    'card-declined',
  );
  assert.match(failure.message, /declined-7/);
  assert.equal((await control.counts('declined-7/PO-1')).charge, 0);
});

test('the statement does not forget after 24 hours, and lists only this reference and key', async (t) => {
  const { partners, control } = await running(t);
  const first = await partners.payments.charge(charge, call);
  await partners.payments.charge({ ...charge, key: 'acme/PO-1/r2/charge' }, call);
  await partners.payments.charge(requests('acme/PO-2').charge, call);
  await control.advanceClock(25 * hourMs);
  const again = await partners.payments.charge(charge, call);
  assert.deepEqual(await partners.payments.findCharges(findCharges, call), [first, again]);
  const other = { reference: 'acme/PO-2', key: charge.key };
  assert.deepEqual(await partners.payments.findCharges(other, call), []);
});

test('a refund gives back what was charged, once, whatever key asks for it', async (t) => {
  const { partners, control } = await running(t);
  const { chargeId } = await partners.payments.charge(charge, call);
  const first = await partners.payments.refund(refund, call);
  assert.ok(first.refundId);
  assert.deepEqual(await partners.payments.refund(refund, call), first);
  const otherKey = { ...refund, key: 'acme/PO-1/r2/refund' };
  assert.deepEqual(await partners.payments.refund(otherKey, call), first);
  const refunds = await control.effects({ reference, kind: 'refund' });
  assert.deepEqual(
    refunds.map(({ id, undoes, amount, key }) => ({ id, undoes, amount, key })),
    [{ id: first.refundId, undoes: chargeId, amount: charge.amount, key: refund.key }],
  );
});

test('a refund of nothing answers so and is asked afresh once the charge has landed', async (t) => {
  const { partners, control } = await running(t);
  assert.deepEqual(await partners.payments.refund(refund, call), { refundId: null });
  await partners.payments.charge(charge, call);
  const { refundId } = await partners.payments.refund(refund, call);
  assert.ok(refundId);
  assert.equal((await control.counts(reference)).refund, 1);
});

test('a refund gives back every charge that an expired key let through', async (t) => {
  const { partners, control } = await running(t);
  await partners.payments.charge(charge, call);
  await control.advanceClock(24 * hourMs);
  await partners.payments.charge(charge, call);
  await partners.payments.refund(refund, call);
  const { charge: charged, refund: refunded } = await control.counts(reference);
  assert.deepEqual([charged, refunded], [2, 2]);
});

for (const [what, amount] of [
  ['nothing', { currency: 'EUR', minor: 0 }],
  ['less than nothing', { currency: 'EUR', minor: -1 }],
  ['a part of a cent', { currency: 'EUR', minor: 0.5 }],
  ['more than can be held exactly', { currency: 'EUR', minor: 2 ** 53 }],
  ['a currency that nobody pays with', { currency: 'XXX', minor: 1 }],
] as const) {
  test(`a charge of ${what} is a wrong request that names the field`, async (t) => {
    const { partners } = await running(t);
    const attempt = partners.payments.charge({ ...charge, amount }, call);
    const { message } = await failsAs(attempt, 'never', 'bad-request');
    assert.match(message, /amount\.(minor|currency)/);
  });
}

test('a reference that is not an order’s business key is a wrong request', async (t) => {
  const { partners } = await running(t);
  const attempt = partners.payments.charge({ ...charge, reference: 'PO-1' }, call);
  const { message } = await failsAs(attempt, 'never', 'bad-request');
  assert.match(message, /business key.*\n.*reference/);
});

test('a charge without a key is a wrong request that names the header', async (t) => {
  const { url } = await running(t);
  const response = await fetch(`${url}/payments/charges`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reference, amount: charge.amount }),
  });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /Idempotency-Key/);
});
