import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StepFailure } from '../../../core/failures.ts';
import type { Order } from '../../../core/order/schema.ts';
import { checkTotals, totals } from '../../../core/order/totals.ts';
import { bytesOf, orderFrom, plainOrder, plainOrderArbitrary } from './orders.ts';
import { readOrders } from '../../../core/order/read/read.ts';

function statedPrices(order: Order): Map<string, string> {
  return new Map(order.lines.map((line) => [line.lineId, line.unitPrice ?? '']));
}

/** The plain order with these lines' quantity and price. */
function orderOf(lines: Record<string, string>[], rest: object = {}): Order {
  const order = plainOrder();
  const [first] = order.lines;
  const all = lines.map((line, index) => ({ ...first, lineId: `${index + 1}`, ...line }));
  return orderFrom({ ...order, ...rest, lines: all });
}

function payable(order: Order): number {
  return totals(order, statedPrices(order)).payable.minor;
}

test('an order comes to its lines, adjustments, tax, prepaid and rounding', () => {
  const read = readOrders(bytesOf('examples/orders/discounts-and-tax.json'), 'x.json');
  assert.ok(read.ok);
  const [order] = read.orders;
  assert.ok(order);
  // 250 m × 48.00 per 100 m − 6.00, and 3.5 h × 82.40 + 15.00
  assert.deepEqual(totals(order, statedPrices(order)), {
    lines: [
      { lineId: '1', minor: 11400 },
      { lineId: '2', minor: 30340 },
    ],
    goods: { currency: 'EUR', minor: 41740 },
    adjustments: { currency: 'EUR', minor: -1250 },
    tax: { currency: 'EUR', minor: 8463 },
    prepaid: { currency: 'EUR', minor: 10000 },
    rounding: { currency: 'EUR', minor: -3 },
    payable: { currency: 'EUR', minor: 38950 },
  });
});

test('every line is rounded by itself, so that what is shown adds up', () => {
  const half = { quantity: '1', unitPrice: '0.005' };
  assert.equal(payable(orderOf([half, half, half])), 3);
});

test('a price is for priceQuantity units, also where that is no round number', () => {
  assert.equal(payable(orderOf([{ quantity: '10', unitPrice: '1', priceQuantity: '3' }])), 333);
  assert.equal(
    payable(orderOf([{ quantity: '2.5', unitPrice: '0.99', priceQuantity: '0.3' }])),
    825,
  );
});

test('a quotient just below a half is not rounded twice', () => {
  // 0.00499999999995 and 0.005 apart by less than a double can tell at that size
  const line = { quantity: '0.999999', unitPrice: '5000.000001', priceQuantity: '1000000' };
  assert.equal(payable(orderOf([line])), 0);
});

test('yen are charged in whole yen', () => {
  const line = { quantity: '1.5', unitPrice: '333' };
  assert.equal(payable(orderOf([line], { currency: 'JPY' })), 500);
});

test('an order that is prepaid in full comes to zero, which is legal', () => {
  assert.equal(payable(orderOf([{ quantity: '1', unitPrice: '5' }], { prepaid: '5' })), 0);
});

test('after pricing, a total that differs from the stated one is a refusal that names both', () => {
  const line = { lineId: '1', sku: 'CH-210', name: 'Office chair', unit: 'C62', quantity: '6' };
  const order = orderFrom({ ...plainOrder(), lines: [line], statedTotal: '60' });
  assert.equal(totals(order, { '1': '10' }).payable.minor, 6000);
  const result = checkTotals(order, { '1': '10.01' });
  assert.equal(result.ok ? '' : result.fault.path, 'statedTotal');
  assert.throws(
    () => totals(order, { '1': '10.01' }),
    (error) =>
      error instanceof StepFailure &&
      error.failureClass === 'refused' &&
      /EUR 60.00, but the order comes to EUR 60.06/.test(error.message),
  );
});

test('a line without a price is no total', () => {
  const order = orderOf([{ quantity: '1' }]);
  for (const prices of [new Map<string, string>(), {}]) {
    assert.throws(
      () => totals(order, prices),
      (error) => error instanceof StepFailure && error.code === 'price-missing',
    );
  }
});

test('a line called like a method of every object has no price by that', () => {
  const order = orderOf([{ lineId: 'constructor', quantity: '1' }]);
  assert.throws(() => totals(order, {}), StepFailure);
});

test('law: the total does not depend on the order of the lines', () => {
  fc.assert(
    fc.property(plainOrderArbitrary, fc.infiniteStream(fc.nat()), (plain, keys) => {
      const order = orderFrom(plain);
      const shuffled = order.lines
        .map((line) => ({ line, key: Number(keys.next().value) }))
        .sort((a, b) => a.key - b.key)
        .map(({ line }) => line);
      assert.equal(payable({ ...order, lines: shuffled }), payable(order));
    }),
  );
});

test('law: the parts add up to the payable amount, and it can be stated', () => {
  fc.assert(
    fc.property(plainOrderArbitrary, (plain) => {
      const order = orderFrom(plain);
      const sum = totals(order, statedPrices(order));
      const goods = sum.lines.reduce((total, line) => total + line.minor, 0);
      assert.equal(goods, sum.goods.minor);
      assert.equal(
        goods + sum.adjustments.minor + sum.tax.minor - sum.prepaid.minor + sum.rounding.minor,
        sum.payable.minor,
      );
      const statedTotal = (BigInt(sum.payable.minor) * 10_000n).toString();
      const stated = `${statedTotal.slice(0, -6) || '0'}.${statedTotal.padStart(7, '0').slice(-6)}`;
      assert.ok(checkTotals({ ...order, statedTotal: stated }, statedPrices(order)).ok);
    }),
  );
});

test('law: a line comes to within half a minor unit of its exact amount', () => {
  const digits = fc.integer({ min: 1, max: 999_999_999 });
  fc.assert(
    fc.property(digits, digits, digits, (quantity, price, base) => {
      const micro = (value: number) =>
        `${Math.floor(value / 1e6)}.${String(value % 1e6).padStart(6, '0')}`;
      const order = orderOf([
        { quantity: micro(quantity), unitPrice: micro(price), priceQuantity: micro(base) },
      ]);
      // In integers: net = q·p/b millionths; the result r hundredths must satisfy |r − net| ≤ ½.
      const [q, p, b] = [BigInt(quantity), BigInt(price), BigInt(base)];
      const twice = 2n * BigInt(payable(order)) * b * 10_000n - 2n * q * p;
      const bound = b * 10_000n;
      assert.ok(-bound < twice && twice <= bound);
    }),
  );
});
