import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from '../../../core/order/canonical.ts';
import { orderFrom, plainOrder, plainOrderArbitrary } from './orders.ts';

test('two ways to write the same order are the same canonical JSON', () => {
  const order = plainOrder();
  const [line] = order.lines;
  const other = {
    ...{ tax: '0.00', adjustments: [] },
    ...order,
    buyer: { email: ' buy@city-hospital.example', name: 'City Hospital ', id: 'city-hospital' },
    lines: [
      { ...line, quantity: '006.0', unitPrice: '189.5', priceQuantity: '1.00', adjustments: [] },
    ],
    rounding: '-0',
  };
  assert.equal(canonicalJson(orderFrom(other)), canonicalJson(orderFrom(order)));
});

const plainBuyer = { id: 'cafe', email: 'a@b.nl' };

test('a name composed in two ways is one name', () => {
  const named = (name: string) => ({ ...plainOrder(), buyer: { ...plainBuyer, name } });
  const one = orderFrom(named('Caf\u00e9'));
  const two = orderFrom(named('Cafe\u0301'));
  assert.equal(canonicalJson(one), canonicalJson(two));
});

test('lines in another order are another order', () => {
  const order = plainOrder();
  order.lines.push({ ...order.lines[0], lineId: '2' });
  const turned = { ...order, lines: order.lines.toReversed() };
  assert.notEqual(canonicalJson(orderFrom(order)), canonicalJson(orderFrom(turned)));
});

test('law: an order that was read is read as itself, and its JSON is a fixed point', () => {
  fc.assert(
    fc.property(plainOrderArbitrary, (plain) => {
      const once = canonicalJson(orderFrom(plain));
      const twice = orderFrom(JSON.parse(once));
      assert.equal(canonicalJson(twice), once);
    }),
  );
});

test('law: canonical JSON does not depend on the order of the fields', () => {
  fc.assert(
    fc.property(plainOrderArbitrary, (plain) => {
      const turned = Object.fromEntries(Object.entries(plain).reverse());
      assert.equal(canonicalJson(orderFrom(turned)), canonicalJson(orderFrom(plain)));
    }),
  );
});
