import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidOrder } from '../../../core/order/fault.ts';
import { orderIdOf, toRunInput } from '../../../core/order/run-input.ts';
import { momentOf } from '../../../core/order/time-zone.ts';
import { defaultPolicy } from '../../../core/policy.ts';
import { orderFrom, plainOrder } from './orders.ts';

const now = new Date('2026-11-29T12:00:00Z');

function chargeAt(fields: object, policy = defaultPolicy, at = now): string | undefined {
  return toRunInput(orderFrom({ ...plainOrder(), ...fields }), policy, at).chargeAt;
}

test('an order without a date is charged at once, and its input has no such field', () => {
  const order = orderFrom(plainOrder());
  assert.deepEqual(toRunInput(order, defaultPolicy, now), {
    order,
    policy: defaultPolicy,
    revision: 1,
  });
});

test('an order is known by buyer and reference', () => {
  assert.deepEqual(orderIdOf(orderFrom(plainOrder())), {
    buyerId: 'city-hospital',
    orderRef: 'PO-1',
  });
});

test('the charge is due at the policy’s hour by the clocks of the order’s time zone', () => {
  const chargeOn = '2026-12-24';
  assert.equal(chargeAt({ chargeOn, timeZone: 'Europe/Amsterdam' }), '2026-12-24T08:00:00.000Z');
  assert.equal(chargeAt({ chargeOn, timeZone: 'America/New_York' }), '2026-12-24T14:00:00.000Z');
  assert.equal(chargeAt({ chargeOn, timeZone: 'Asia/Kathmandu' }), '2026-12-24T03:15:00.000Z');
  assert.equal(chargeAt({ chargeOn, timeZone: 'Pacific/Kiritimati' }), '2026-12-23T19:00:00.000Z');
});

test('an order that names no time zone gets the policy’s', () => {
  const policy = { ...defaultPolicy, chargeTimeZone: 'Asia/Tokyo', chargeHour: 8 };
  assert.equal(chargeAt({ chargeOn: '2026-12-24' }, policy), '2026-12-23T23:00:00.000Z');
});

test('summer time is that of the day of the charge, not of the day of the order', () => {
  const timeZone = 'Europe/Amsterdam';
  assert.equal(chargeAt({ chargeOn: '2027-03-27', timeZone }), '2027-03-27T08:00:00.000Z');
  assert.equal(chargeAt({ chargeOn: '2027-03-28', timeZone }), '2027-03-28T07:00:00.000Z');
});

test('an hour that the clocks skip is the moment as long after midnight; one that comes twice is its first', () => {
  const at = (date: string, hour: number, zone: string) =>
    new Date(momentOf(date, hour, zone)).toISOString();
  assert.equal(at('2027-03-28', 2, 'Europe/Amsterdam'), '2027-03-28T01:00:00.000Z');
  assert.equal(at('2027-10-31', 2, 'Europe/Amsterdam'), '2027-10-31T00:00:00.000Z');
  assert.equal(at('2027-03-14', 2, 'America/New_York'), '2027-03-14T07:00:00.000Z');
  // Half an hour of summer time, on the other side of the world.
  assert.equal(at('2027-04-04', 9, 'Australia/Lord_Howe'), '2027-04-03T22:30:00.000Z');
  assert.equal(at('2027-10-03', 9, 'Australia/Lord_Howe'), '2027-10-02T22:00:00.000Z');
});

test('a date that has passed, also if only by an hour of today, means at once', () => {
  assert.equal(chargeAt({ chargeOn: '2026-11-28' }), undefined);
  assert.equal(chargeAt({ chargeOn: '2026-11-29' }), undefined);
  assert.equal(
    chargeAt({ chargeOn: '2026-11-29', timeZone: 'Pacific/Pago_Pago' }),
    '2026-11-29T20:00:00.000Z',
  );
  assert.equal(chargeAt({ chargeOn: '0001-01-01' }), undefined);
});

test('a date too far ahead is refused with the last day that is possible', () => {
  assert.equal(chargeAt({ chargeOn: '2027-11-30' }), '2027-11-30T09:00:00.000Z');
  assert.throws(
    () => chargeAt({ chargeOn: '2027-12-01' }),
    (error) =>
      error instanceof InvalidOrder &&
      error.faults[0]?.path === 'chargeOn' &&
      error.faults[0].hint === 'the last day is 2027-11-30',
  );
  assert.throws(() => chargeAt({ chargeOn: '9999-12-31' }), InvalidOrder);
});

test('a time zone nobody knows is refused, also in an order that did not come through the reader', () => {
  const order = { ...orderFrom(plainOrder()), chargeOn: '2026-12-24', timeZone: 'Mars/North' };
  assert.throws(() => toRunInput(order, defaultPolicy, now), InvalidOrder);
});
