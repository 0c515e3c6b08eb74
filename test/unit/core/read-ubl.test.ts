import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson } from '../../../core/order/canonical.ts';
import type { Fault } from '../../../core/order/fault.ts';
import { readOrders } from '../../../core/order/read/read.ts';
import type { Order } from '../../../core/order/schema.ts';
import { totals } from '../../../core/order/totals.ts';
import { bytesOf } from './orders.ts';

const kitchen = new TextDecoder().decode(bytesOf('examples/orders/peppol-kitchen.xml'));

function orderIn(xml: string | Uint8Array): Order {
  const bytes = typeof xml === 'string' ? new TextEncoder().encode(xml) : xml;
  const result = readOrders(bytes, 'order.xml');
  assert.ok(result.ok, JSON.stringify(result));
  assert.equal(result.orders.length, 1);
  const [order] = result.orders;
  assert.ok(order);
  return order;
}

function faultsIn(xml: string): Fault[] {
  const result = readOrders(new TextEncoder().encode(xml), 'order.xml');
  return result.ok ? [] : result.faults;
}

/** The kitchen's order with one thing changed, which must be there. */
function kitchenWith(old: string, changed: string): string {
  assert.ok(kitchen.includes(old), old);
  return kitchen.replace(old, changed);
}

test('a PEPPOL order is the same as its JSON', () => {
  assert.deepEqual(orderIn(kitchen), {
    orderRef: '4711',
    buyer: { id: '0106:64123456', name: 'Hospital De Linde', email: 'inkoop@delinde.example' },
    supplierId: '0106:30998877',
    currency: 'EUR',
    lines: [
      {
        ...{ lineId: '1', sku: 'SOUP-08', name: 'Tomato soup, 1 l', quantity: '120', unit: 'EA' },
        unitPrice: '2.35',
        adjustments: [{ amount: '-14.1', reason: 'Volume discount' }],
      },
      {
        ...{ lineId: '2', sku: 'CHEES-3', name: 'Gouda, matured', quantity: '7.5', unit: 'KGM' },
        unitPrice: '18.4',
      },
      {
        ...{ lineId: '3', sku: 'NAPK-1', name: 'Paper napkin', quantity: '1500', unit: 'EA' },
        unitPrice: '12.5',
        priceQuantity: '1000',
      },
    ],
    adjustments: [
      { amount: '9.95', reason: 'Small order surcharge' },
      { amount: '-4.25', reason: 'Framework discount' },
    ],
    tax: '38.73',
    prepaid: '50',
    rounding: '0.02',
    statedTotal: '419.1',
  });
});

test('what is charged for a PEPPOL order is its payable amount', () => {
  const order = orderIn(kitchen);
  const prices = new Map(order.lines.map((line) => [line.lineId, line.unitPrice ?? '']));
  assert.equal(totals(order, prices).payable.minor, 419_10);
});

test('namespace prefixes are the sender’s own affair, and so is white space inside a value', () => {
  const order = orderIn(bytesOf('test/orders/other-prefixes.xml'));
  assert.equal(canonicalJson(order), canonicalJson(orderIn(kitchen)));
});

test('an order with hardly any optional element is read from what is there', () => {
  assert.deepEqual(orderIn(bytesOf('test/orders/bare.xml')), {
    orderRef: '7',
    buyer: { id: 'buyer-7', name: 'Bakkerij Jansen & Zoon', email: 'jansen@bakkerij.example' },
    supplierId: '0106:30112233',
    // No DocumentCurrencyCode: the price says it.
    currency: 'EUR',
    lines: [
      {
        // An item ordered in free text has no number: its name is what it is known by.
        ...{ lineId: '1', sku: 'Oven inspection', name: 'Oven inspection', unit: 'HUR' },
        ...{ quantity: '2.25', unitPrice: '40' },
      },
    ],
  });
});

test('a line without a price is one that the supplier is asked about', () => {
  const order = orderIn(bytesOf('examples/orders/peppol-no-prices.xml'));
  assert.deepEqual(
    order.lines.map((line) => line.unitPrice),
    [undefined, undefined],
  );
});

test('a payment due date is the day to charge, whatever its offset; a delivery period is not', () => {
  assert.equal(orderIn(bytesOf('test/orders/due-date.xml')).chargeOn, '2026-12-24');
  assert.ok(kitchen.includes('RequestedDeliveryPeriod'));
  assert.equal(orderIn(kitchen).chargeOn, undefined);
});

test('two due dates that differ are a fault, since an order is charged once', () => {
  const date = (day: string) => `<cbc:PaymentDueDate>${day}</cbc:PaymentDueDate>`;
  const means = (day: string) => `<cac:PaymentMeans>${date(day)}</cac:PaymentMeans>`;
  const both = `${means('2026-12-24')}${means('2026-12-27')}<cac:TaxTotal>`;
  assert.match(
    faultsIn(kitchenWith('<cac:TaxTotal>', both))[0]?.message ?? '',
    /several due dates/,
  );
  const same = `${means('2026-12-24')}${means('2026-12-24')}<cac:TaxTotal>`;
  assert.equal(orderIn(kitchenWith('<cac:TaxTotal>', same)).chargeOn, '2026-12-24');
});

test('a discount inside Price is information only: PriceAmount is net of it already', () => {
  assert.ok(kitchen.includes('<cbc:BaseAmount currencyID="EUR">2.60</cbc:BaseAmount>'));
  assert.equal(orderIn(kitchen).lines[0]?.unitPrice, '2.35');
});

test('a line that the buyer rounded otherwise, within PEPPOL’s tolerance, keeps the buyer’s amount', () => {
  const order = orderIn(bytesOf('test/orders/buyers-own-rounding.xml'));
  const [adjustment] = order.lines[0]?.adjustments ?? [];
  assert.deepEqual(adjustment, { amount: '-0.01', reason: 'rounding of the stated line amount' });
  assert.equal(totals(order, { '1': '0.335' }).payable.minor, 100);
});

test('the taxes of several kinds are added', () => {
  const more = '<cac:TaxTotal><cbc:TaxAmount>1.5</cbc:TaxAmount></cac:TaxTotal><cac:TaxTotal>';
  const total = kitchenWith('<cac:TaxTotal>', more).replace('>419.10<', '>420.60<');
  assert.equal(orderIn(total).tax, '40.23');
});

test('a buyer without an electronic address is known by another number, with its register', () => {
  const endpoint = '<cbc:EndpointID schemeID="0106">64123456</cbc:EndpointID>';
  assert.equal(orderIn(kitchenWith(endpoint, '')).buyer.id, '0088:8712345000004');
});

test('an extension that looks like a field of the order is not read', () => {
  const extension =
    '<e:Ext xmlns:e="urn:x"><e:ID>9999</e:ID></e:Ext><e:ID xmlns:e="urn:x">8888</e:ID><cbc:ID>';
  assert.equal(orderIn(kitchenWith('<cbc:ID>', extension)).orderRef, '4711');
});

test('UTF-16 with its mark is read, markup inside CDATA is text', () => {
  const named = kitchenWith('Gouda, matured', '<![CDATA[<b>Gouda</b>]]>').replace(
    'UTF-8',
    'UTF-16',
  );
  const units = Uint16Array.from(`\ufeff${named}`, (_, i) => `\ufeff${named}`.charCodeAt(i));
  const order = orderIn(new Uint8Array(units.buffer));
  assert.equal(order.lines[1]?.name, '<b>Gouda</b>');
});
