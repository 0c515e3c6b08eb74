import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { approvalNeeded } from '../../../core/decisions.ts';
import { readOrders } from '../../../core/order/read/read.ts';
import type { Fault } from '../../../core/order/fault.ts';
import type { Order } from '../../../core/order/schema.ts';
import { checkTotals } from '../../../core/order/totals.ts';
import { defaultPolicy, orderLimits } from '../../../core/policy.ts';
import { bytesOf, orderFrom, plainOrder } from './orders.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

function faultsOf(bytes: Uint8Array, name = 'order.json'): Fault[] {
  const result = readOrders(bytes, name);
  return result.ok ? [] : result.faults;
}

function ordersOf(bytes: Uint8Array): Order[] {
  const result = readOrders(bytes, 'order.json');
  assert.ok(result.ok, JSON.stringify(result));
  return result.orders;
}

function utf16(text: string, bigEndian: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * text.length + 2));
  [...`\ufeff${text}`].forEach((_, i) =>
    view.setUint16(2 * i, `\ufeff${text}`.charCodeAt(i), !bigEndian),
  );
  return new Uint8Array(view.buffer);
}

test('a file with one order is that order', () => {
  assert.deepEqual(ordersOf(utf8(JSON.stringify(plainOrder()))), [orderFrom(plainOrder())]);
});

test('a file with a list is all its orders, or every fault with its place in the list', () => {
  const other = { ...plainOrder(), orderRef: 'PO-2' };
  assert.equal(ordersOf(utf8(JSON.stringify([plainOrder(), other]))).length, 2);
  const faults = faultsOf(utf8(JSON.stringify([plainOrder(), { ...other, tax: 3 }, null])));
  assert.deepEqual(
    faults.map(({ path }) => path),
    ['[1].tax', '[2]'],
  );
});

test('a byte order mark is not part of the order, in UTF-8 and in UTF-16 of either order', () => {
  const text = JSON.stringify({ ...plainOrder(), supplierId: 'größe-水' });
  for (const bytes of [utf8(`\ufeff${text}`), utf16(text, false), utf16(text, true)]) {
    assert.equal(ordersOf(bytes)[0]?.supplierId, 'größe-水');
  }
});

/** What the file is, its bytes, what the fault says. */
const unreadable: [string, Uint8Array, RegExp][] = [
  ['an empty file', utf8(''), /is empty/],
  ['white space', utf8(' \n\t '), /is empty/],
  ['an empty list', utf8('[]'), /is an empty list/],
  ['text', utf8('PO-1;6;189.50'), /is not JSON/],
  ['half an order', utf8('{"orderRef": "PO-1"'), /is not JSON.*Expected/],
  ['Latin-1', new Uint8Array([0x7b, 0x22, 0xe9, 0x22, 0x7d]), /bytes that are not UTF-8/],
  ['UTF-16 without a mark', utf16('{}', false).slice(2), /without a byte order mark/],
  ['a file of 50 MB', new Uint8Array(50_000_000), /larger than 10 MB/],
  ['nesting without end', utf8('['.repeat(100_000)), /is not JSON/],
];

for (const [what, bytes, says] of unreadable) {
  test(`${what} is refused with one fault of the whole file`, () => {
    const faults = faultsOf(bytes);
    assert.deepEqual(
      faults.map(({ path }) => path),
      [''],
    );
    assert.match(`${faults[0]?.message} ${faults[0]?.hint}`, says);
  });
}

test('a message never carries the control characters of the file it quotes', () => {
  const [fault] = faultsOf(utf8('\u001b]0;evil\u0007 {'));
  assert.doesNotMatch(`${fault?.message}${fault?.hint}`, /\p{Cc}/u);
});

test('a field called __proto__ is an unknown field', () => {
  const text = JSON.stringify(plainOrder()).replace('{', '{"__proto__": {"orderRef": "x"}, ');
  assert.deepEqual(
    faultsOf(utf8(text)).map(({ path }) => path),
    ['__proto__'],
  );
});

test('a long list of what is no order is given up after the first faults', () => {
  const faults = faultsOf(utf8(JSON.stringify(Array(100_000).fill(1))));
  assert.match(faults.at(-1)?.message ?? '', /and at least 1 more/);
});

test('an order one byte too large is refused before it is parsed', () => {
  const bytes = new Uint8Array(orderLimits.maxFileBytes + 1).fill(0x20);
  assert.match(faultsOf(bytes)[0]?.message ?? '', /larger than/);
});

test('law: any bytes give orders or faults, never an exception', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom('', '{', '[', '<'),
      (bytes, start) => {
        const result = readOrders(new Uint8Array([...utf8(start), ...bytes]), 'x');
        assert.ok(result.ok || result.faults.length > 0);
      },
    ),
  );
});

const examples = readdirSync(new URL('../../../examples/orders/', import.meta.url));
assert.ok(examples.length >= 10);

for (const name of examples) {
  test(`examples/orders/${name} can be submitted`, () => {
    assert.notEqual(ordersOf(bytesOf(`examples/orders/${name}`)).length, 0);
  });
}

test('the examples are on the side of the approval limit that their names say', () => {
  const needed = (name: string) => {
    const [order] = ordersOf(bytesOf(`examples/orders/${name}.json`));
    assert.ok(order);
    const prices = new Map(order.lines.map((line) => [line.lineId, line.unitPrice ?? '']));
    const result = checkTotals(order, prices);
    assert.ok(result.ok);
    return approvalNeeded(result.totals.payable, defaultPolicy);
  };
  assert.equal(needed('above-limit'), true);
  for (const name of ['office-chairs', 'forty-lines', '240-lines', 'charge-later', 'refused']) {
    assert.equal(needed(name), false, name);
  }
});
