import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../../../core/order/fault.ts';
import { readOrders } from '../../../core/order/read/read.ts';
import { bytesOf } from './orders.ts';

const kitchen = new TextDecoder().decode(bytesOf('examples/orders/peppol-kitchen.xml'));

function faultsIn(xml: string): Fault[] {
  const result = readOrders(new TextEncoder().encode(xml), 'order.xml');
  return result.ok ? [] : result.faults;
}

/** The kitchen's order with one thing changed, which must be there. */
function kitchenWith(old: string, changed: string): string {
  assert.ok(kitchen.includes(old), old);
  return kitchen.replace(old, changed);
}

const endless: [string, string, RegExp][] = [
  ['elements in elements', '<a>'.repeat(100_000), /more than 64 levels deep/],
  [
    'attributes',
    `<a ${Array.from({ length: 1000 }, (_, i) => `x${i}=""`).join(' ')}/>`,
    /attributes/,
  ],
  ['elements side by side', `<a>${'<b/>'.repeat(250_000)}</a>`, /more than 250000 elements/],
];

for (const [what, xml, says] of endless) {
  test(`XML with ${what} without end is refused`, () => {
    assert.match(faultsIn(xml)[0]?.message ?? '', says);
  });
}

const malformed: [string, string][] = [
  ['an undefined entity', '<a>&nbsp;</a>'],
  ['an unbound prefix', '<p:Order/>'],
  ['two roots', '<a/><b/>'],
  ['no end', '<a><b>'],
  ['an attribute twice', '<a x="1" x="2"/>'],
  ['a forbidden character', '<a>\u0001</a>'],
  ['a surrogate by number', '<a>&#xD800;</a>'],
  ['only a declaration', '<?xml version="1.0"?>'],
];

for (const [what, xml] of malformed) {
  test(`XML with ${what} is not well-formed, and is refused with line and column`, () => {
    const faults = faultsIn(xml);
    assert.equal(faults.length, 1);
    assert.match(faults[0]?.message ?? '', /not well-formed XML at line 1, column \d+/);
  });
}

test('control characters that XML 1.1 lets in by number are refused in text', () => {
  const xml = kitchenWith('version="1.0"', 'version="1.1"').replace('Gouda', 'Gou&#1;da');
  assert.deepEqual(
    faultsIn(xml).map(({ path }) => path),
    ['/Order/OrderLine[2]/LineItem/Item/Name'],
  );
});

test('quantities and prices beyond all bounds are a fault of their element, not a crash', () => {
  const huge = kitchenWith('>7.5<', `>${'9'.repeat(12)}<`).replace(
    '>18.40<',
    `>${'9'.repeat(12)}<`,
  );
  assert.match(faultsIn(huge)[0]?.message ?? '', /too large to be held exactly/);
  const digits = kitchenWith('>7.5<', `>${'9'.repeat(200)}<`);
  assert.equal(faultsIn(digits)[0]?.path, '/Order/OrderLine[2]/LineItem/Quantity');
});

test('ten thousand lines are refused with the limit', () => {
  const line = kitchen.slice(kitchen.indexOf('<cac:OrderLine>'), kitchen.indexOf('</Order>'));
  const many = kitchenWith('</Order>', `${line.repeat(3334)}</Order>`);
  const found = faultsIn(many).map(({ path, message }) => `${path} ${message}`);
  assert.deepEqual(found, ['/Order/OrderLine has 10005 entries']);
});
