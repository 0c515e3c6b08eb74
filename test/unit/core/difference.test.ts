import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from '../../../core/order/difference.ts';
import { orderFrom, plainOrder } from './orders.ts';

test('what a fix changed is shown by field and by line, and nothing else', () => {
  const before = plainOrder();
  before.lines.push({ ...before.lines[0], lineId: '2' });
  const after = {
    ...before,
    tax: '1',
    lines: [before.lines[0], { ...before.lines[1], quantity: '7' }],
  };
  const found = differences(orderFrom(before), orderFrom(after));
  const line = (quantity: string) =>
    `{"lineId":"2","name":"Office chair","quantity":"${quantity}","sku":"CH-210","unit":"C62","unitPrice":"189.5"}`;
  assert.equal(found.before, `line 2: ${line('6')}; tax: none`);
  assert.equal(found.after, `line 2: ${line('7')}; tax: "1"`);
});

test('the differences of two large orders are cut to what a history can carry', () => {
  const order = plainOrder();
  const lines = (quantity: string) =>
    Array.from({ length: 200 }, (_, i) => ({ ...order.lines[0], lineId: `${i}`, quantity }));
  const of = (quantity: string) => orderFrom({ ...order, lines: lines(quantity) });
  assert.ok(differences(of('1'), of('2')).after.length <= 1_001);
  assert.deepEqual(differences(of('1'), of('1')), { before: '', after: '' });
});
