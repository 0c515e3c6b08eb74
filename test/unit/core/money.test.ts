import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { currencyDigits } from '../../../core/order/currency.ts';
import {
  AmountTooLarge,
  addMinor,
  formatMoney,
  isWholeMinor,
  money,
  toDecimal,
  toMinor,
} from '../../../core/order/money.ts';

test('minor units are the currency’s own: cents, yen, fils', () => {
  assert.equal(toMinor('12.34', 'EUR'), 1234);
  assert.equal(toMinor('12', 'JPY'), 12);
  assert.equal(toMinor('12.345', 'KWD'), 12345);
});

test('half a minor unit is rounded up, as on invoices, and not to even', () => {
  assert.equal(toMinor('0.125', 'EUR'), 13);
  assert.equal(toMinor('0.135', 'EUR'), 14);
  assert.equal(toMinor('2.5', 'JPY'), 3);
  // 1.005 is 1.00499999… as a floating-point number.
  assert.equal(toMinor('1.005', 'EUR'), 101);
  assert.equal(toMinor('1.004999', 'EUR'), 100);
});

test('what is beyond the safe integers is an error, also as a sum', () => {
  assert.equal(toMinor('90071992547409.91', 'EUR'), Number.MAX_SAFE_INTEGER);
  assert.throws(() => toMinor('90071992547409.92', 'EUR'), AmountTooLarge);
  assert.throws(() => addMinor('EUR', Number.MAX_SAFE_INTEGER, 1), AmountTooLarge);
});

test('zero is never minus zero', () => {
  assert.ok(Object.is(toMinor('-0.001', 'EUR'), 0));
  assert.ok(Object.is(addMinor('EUR', -0), 0));
});

test('money is shown with its currency and all its decimals', () => {
  assert.equal(formatMoney({ currency: 'EUR', minor: 1_234_50 }), 'EUR 1234.50');
  assert.equal(formatMoney({ currency: 'EUR', minor: -5 }), 'EUR -0.05');
  assert.equal(formatMoney({ currency: 'JPY', minor: 500 }), 'JPY 500');
  assert.equal(formatMoney({ currency: 'BHD', minor: 1 }), 'BHD 0.001');
});

test('a currency that nobody pays with has no minor units', () => {
  for (const code of ['XXX', 'XTS', 'XAU', 'XDR', 'CHE', 'eur', 'DEM', 'BGN', 'ANG', '']) {
    assert.equal(currencyDigits(code), undefined, code);
    assert.throws(() => money('1', code), RangeError);
  }
});

test('currencies with an X that people pay with are taken, and those newer than the list', () => {
  assert.deepEqual(['XAF', 'XOF', 'XPF', 'XCD', 'XCG'].map(currencyDigits), [0, 0, 0, 2, 2]);
});

test('a whole number of minor units is told from a fraction', () => {
  assert.ok(isWholeMinor('1.5', 'EUR'));
  assert.ok(!isWholeMinor('1.5', 'JPY'));
  assert.ok(!isWholeMinor('0.001', 'EUR'));
});

test('law: minor units to major and back is the same amount', () => {
  const currency = fc.constantFrom('EUR', 'JPY', 'KWD');
  fc.assert(
    fc.property(fc.maxSafeInteger(), currency, (minor, code) => {
      assert.equal(toMinor(toDecimal({ currency: code, minor }), code), minor === 0 ? 0 : minor);
    }),
  );
});
