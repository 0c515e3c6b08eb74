import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_FAULTS } from '../../../core/order/fault.ts';
import type { Fault } from '../../../core/order/fault.ts';
import { parseOrder } from '../../../core/order/parse.ts';
import { orderFrom, plainOrder } from './orders.ts';

function faultsOf(input: unknown): Fault[] {
  const result = parseOrder(input);
  return result.ok ? [] : result.faults;
}

/** The plain order with `value` in the field at `path`; undefined removes the field. */
function withField(path: string, value: unknown): unknown {
  return changed(plainOrder(), path.split('.'), value);
}

function changed(owner: unknown, [key = '', ...rest]: string[], value: unknown): unknown {
  if (Array.isArray(owner)) {
    return owner.map((item: unknown, i) => (String(i) === key ? changed(item, rest, value) : item));
  }
  const fields = new Map(Object.entries(owner ?? {}));
  if (rest.length > 0) fields.set(key, changed(fields.get(key), rest, value));
  else if (value === undefined) fields.delete(key);
  else fields.set(key, value);
  return Object.fromEntries(fields);
}

/** field, value, path of the fault, what its message and hint must say */
const refusals: [string, unknown, string, RegExp][] = [
  ['supplierId', undefined, 'supplierId', /is missing/],
  ['buyer', undefined, 'buyer', /is missing/],
  ['buyer', 'City Hospital', 'buyer', /must be an object, not a string/],
  ['buyer.id', '', 'buyer.id', /is empty/],
  ['buyer.id', 'x'.repeat(51), 'buyer.id', /51 characters.*at most 50/],
  ['orderRef', '   ', 'orderRef', /is empty/],
  ['orderRef', 'PO\u200b1', 'orderRef', /invisible character U\+200B/],
  ['orderRef', 7, 'orderRef', /must be a string, not a number.*in quotes/],
  ['orderRef', '\ud800', 'orderRef', /lone surrogate/],
  ['buyer.name', 'City\u0000Hospital', 'buyer.name', /control character U\+0000/],
  ['buyer.name', 'City\nHospital', 'buyer.name', /control character U\+000A/],
  ['buyer.name', 'evil\u202eexe', 'buyer.name', /control character U\+202E/],
  ['buyer.name', 'half \udc00', 'buyer.name', /lone surrogate/],
  ['buyer.email', 'nobody', 'buyer.email', /not an email address/],
  ['buyer.email', 'a@b.nl, c@d.nl', 'buyer.email', /not an email address/],
  ['buyer.email', 'a@b.nl\r\nBcc: c@d.nl', 'buyer.email', /control character/],
  ['buyer.email', 'a@localhost', 'buyer.email', /not an email address/],
  ['currency', 'eur', 'currency', /did you mean "EUR"/],
  ['currency', 'XXX', 'currency', /not a currency in use/],
  ['currency', 'XTS', 'currency', /not a currency in use/],
  ['currency', 'XAU', 'currency', /not a currency in use/],
  ['currency', 'DEM', 'currency', /not a currency in use/],
  ['currency', 'toString', 'currency', /not a currency in use/],
  ['lines', [], 'lines', /is empty.*at least one line/],
  ['lines', {}, 'lines', /must be a list, not an object/],
  ['lines', Array(10_000).fill({}), 'lines', /10000 entries.*at most 2500/],
  ['lines.0.quantity', '-1', 'lines[0].quantity', /more than zero/],
  ['lines.0.quantity', '0.000', 'lines[0].quantity', /more than zero/],
  ['lines.0.quantity', 6, 'lines[0].quantity', /must be a string, not a number.*in quotes/],
  ['lines.0.quantity', '9'.repeat(200), 'lines[0].quantity', /too many digits.*at most 12/],
  ['lines.0.quantity', '1.1234567', 'lines[0].quantity', /too many digits.*6 after/],
  ['lines.0.quantity', '1e3', 'lines[0].quantity', /not a decimal/],
  ['lines.0.quantity', 'NaN', 'lines[0].quantity', /not a decimal/],
  ['lines.0.quantity', '1.234,50', 'lines[0].quantity', /decimal sign is a point/],
  ['lines.0.unitPrice', '-0.01', 'lines[0].unitPrice', /must not be negative/],
  ['lines.0.unitPrice', null, 'lines[0].unitPrice', /not null.*leave the field out/],
  ['lines.0.unitPrice', '', 'lines[0].unitPrice', /is empty/],
  ['lines.0.priceQuantity', '0', 'lines[0].priceQuantity', /more than zero/],
  ['lines.0.unitprice', '3', 'lines[0].unitprice', /not a field.*did you mean "unitPrice"/],
  ['lines.0.name', 'x'.repeat(301), 'lines[0].name', /at most 300/],
  ['adjustments', [{ amount: '1' }], 'adjustments[0].reason', /is missing/],
  [
    'adjustments',
    [{ amount: '1.005', reason: 'x' }],
    'adjustments[0].amount',
    /more decimals than EUR/,
  ],
  ['tax', '-1', 'tax', /must not be negative/],
  ['tax', '0.001', 'tax', /more decimals than EUR has.*at most 2/],
  ['prepaid', '1137.01', 'lines', /less than nothing: EUR -0.01/],
  ['statedTotal', '1137.01', 'statedTotal', /says EUR 1137.01, but the order comes to EUR 1137.00/],
  ['chargeOn', '2026-02-29', 'chargeOn', /not a calendar date/],
  ['chargeOn', '24-12-2026', 'chargeOn', /not a calendar date/],
  ['chargeOn', '2026-12-24T10:00', 'chargeOn', /not a calendar date/],
  ['timeZone', 'Europe/Amsterdm', 'timeZone', /did you mean "Europe\/Amsterdam"/],
  ['timeZone', ' Mars/North ', 'timeZone', /not a time zone/],
  ['timeZone', '+02:00', 'timeZone', /not an IANA time zone/],
  ['colour', 'red', 'colour', /not a field of an order/],
  ['\u001b[2J', 'x', '"U+001B[2J"', /not a field of an order/],
];

for (const [field, value, path, says] of refusals) {
  const shown = JSON.stringify(value) ?? 'missing';
  test(`an order with ${JSON.stringify(field)} = ${shown.slice(0, 40)} is refused at ${path}`, () => {
    const faults = faultsOf(withField(field, value));
    assert.deepEqual(
      faults.map((fault) => fault.path),
      [path],
    );
    assert.match(`${faults[0]?.message} ${faults[0]?.hint}`, says);
    assert.notEqual(faults[0]?.hint, '');
  });
}

test('a line id that is used twice is named with the line that has it first, beside other faults', () => {
  const order = plainOrder();
  const [line] = order.lines;
  order.lines = [{ ...line }, { ...line, lineId: '2' }, { ...line, quantity: 3 }];
  const found = faultsOf(order).map(({ path, message }) => `${path} ${message}`);
  assert.deepEqual(found, [
    'lines[2].quantity must be a string, not a number',
    'lines[2].lineId is used twice: lines[0] has "1" too',
  ]);
});

test('every fault of an order is in one answer', () => {
  const bad = {
    ...plainOrder(),
    currency: 'eur',
    tax: 3,
    chargeOn: 'soon',
    timeZone: 'Mars/North',
  };
  const paths = faultsOf(bad).map((fault) => fault.path);
  assert.deepEqual(paths.sort(), ['chargeOn', 'currency', 'tax', 'timeZone']);
});

test('more faults than anybody reads are counted, not listed', () => {
  const order = plainOrder();
  order.lines = Array.from({ length: 100 }, (_, i) => ({
    ...order.lines[0],
    lineId: `${i}`,
    quantity: 1,
  }));
  const faults = faultsOf(order);
  assert.equal(faults.length, MAX_FAULTS + 1);
  assert.match(faults.at(-1)?.message ?? '', /and 50 more faults/);
});

for (const input of [null, undefined, 3, 'order', [], true]) {
  test(`${JSON.stringify(input)} is no order`, () => {
    assert.equal(faultsOf(input).length, 1);
    assert.match(faultsOf(input)[0]?.message ?? '', /must be an object|is missing/);
  });
}

test('HTML in a name is legal text and kept as it is', () => {
  const order = orderFrom(withField('buyer.name', '<script>alert("1")</script> & Sons'));
  assert.equal(order.buyer.name, '<script>alert("1")</script> & Sons');
});

test('yen have no decimals and dinars have three', () => {
  const inYen = { ...plainOrder(), currency: 'JPY', tax: '100' };
  assert.deepEqual(faultsOf(inYen), []);
  assert.equal(faultsOf({ ...inYen, tax: '100.5' })[0]?.hint, 'write a whole number');
  assert.deepEqual(faultsOf({ ...inYen, currency: 'KWD', tax: '100.125' }), []);
});

test('an amount beyond what can be held exactly is refused, not rounded', () => {
  const order = plainOrder();
  Object.assign(order.lines[0] ?? {}, { quantity: '999999999999', unitPrice: '999999999999' });
  assert.match(faultsOf(order)[0]?.message ?? '', /too large to be held exactly/);
});

test('an order of more bytes than a run may start with is refused', () => {
  const order = plainOrder();
  const name = '水'.repeat(300);
  order.lines = Array.from({ length: 1200 }, (_, i) => ({
    ...order.lines[0],
    name,
    lineId: `${i}`,
  }));
  assert.match(faultsOf(order)[0]?.message ?? '', /bytes long/);
});

test('law: whatever comes in, the answer is an order or faults, never an exception', () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true });
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(plainOrder()), 'tax', 'x'),
      anything,
      (key, value) => {
        const result = parseOrder({ ...plainOrder(), [key]: value });
        assert.ok(result.ok || result.faults.every((fault) => fault.message !== ''));
      },
    ),
    { numRuns: 300 },
  );
});
