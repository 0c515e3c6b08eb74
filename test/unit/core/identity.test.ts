import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  MAX_ENCODED_ID_LENGTH,
  MAX_ID_LENGTH,
  businessKey,
  effectKey,
  parseBusinessKey,
  runIdOf,
} from '../../../core/identity.ts';
import { parseOrder } from '../../../core/order/parse.ts';
import { STEPS } from '../../../core/steps.ts';
import { plainOrder } from './orders.ts';

const id = fc
  .string({ unit: 'binary', minLength: 1, maxLength: MAX_ID_LENGTH })
  .filter((text) => text.length <= MAX_ID_LENGTH)
  .filter((text) => encodeURIComponent(text).length <= MAX_ENCODED_ID_LENGTH);
const orderId = fc.record({ buyerId: id, orderRef: id }, { noNullPrototype: true });

test('law: a business key is read back as what it was made of', () => {
  fc.assert(
    fc.property(orderId, (order) => assert.deepEqual(parseBusinessKey(businessKey(order)), order)),
  );
});

test("law: a run id fits into the 255 characters of Temporal's SQL schema, with room for a child", () => {
  fc.assert(fc.property(orderId, (order) => assert.ok(`${runIdOf(order)}/lines/99`.length <= 255)));
});

test('law: effects that differ in anything have different keys', () => {
  // Few and nasty parts, so that collisions would be found.
  const part = fc.constantFrom('1', '/', '1/r1', 'r1', '%2F', 'charge', 'a/b', ' ', 'é');
  const effect = fc.record({
    buyerId: part,
    orderRef: part,
    revision: fc.integer({ min: 1, max: 12 }),
    step: fc.constantFrom(...STEPS, 'release' as const, 'refund' as const, 'cancel' as const),
    lineId: fc.option(part, { nil: undefined }),
  });
  const keyOf = ({
    buyerId,
    orderRef,
    lineId,
    ...rest
  }: typeof effect extends fc.Arbitrary<infer T> ? T : never) =>
    effectKey({ buyerId, orderRef }, { ...rest, ...(lineId === undefined ? {} : { lineId }) });
  fc.assert(
    fc.property(effect, effect, (one, other) => {
      assert.equal(keyOf(one) === keyOf(other), JSON.stringify(one) === JSON.stringify(other));
    }),
    { numRuns: 2000 },
  );
});

test('a slash inside a reference does not make two orders one', () => {
  const one = businessKey({ buyerId: 'a', orderRef: 'b/c' });
  assert.notEqual(one, businessKey({ buyerId: 'a/b', orderRef: 'c' }));
});

for (const key of ['', 'a', '/', 'a/', '/b', 'a/b/c', 'a/%', '%E0%A4%A/b']) {
  test(`"${key}" is no business key`, () => {
    assert.throws(() => parseBusinessKey(key), RangeError);
  });
}

test('a reference that would outgrow the ids of others when encoded is refused with its length', () => {
  const parsed = parseOrder({ ...plainOrder(), orderRef: '購'.repeat(13) });
  assert.deepEqual(parsed.ok ? [] : parsed.faults, [
    {
      path: 'orderRef',
      message: 'is 117 characters long when percent-encoded',
      hint: 'at most 110; letters outside A to Z take six or more each',
    },
  ]);
});
