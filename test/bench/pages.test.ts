import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { reportOrders } from '../../bench/orders/report.ts';
import { reportReplay } from '../../bench/replay/report.ts';
import { reportTransport } from '../../bench/transport/report.ts';
import { projectRoot } from '../../stack/runtime.mjs';

const read = (name: string) => readFile(join(projectRoot, 'docs/measured', name), 'utf8');

/** The cells as `npm run bench` wrote them, beside the page that it made of them. */
async function cellsOf<T>(name: string, report: (cells: T) => string): Promise<string> {
  return `${report(JSON.parse(await read(`${name}.json`)) as T)}\n`;
}

test('the measured pages are what the benches write of the cells beside them', async () => {
  assert.equal(await read('orders.md'), await cellsOf('orders', reportOrders));
  assert.equal(await read('transport.md'), await cellsOf('transport', reportTransport));
  assert.equal(await read('replay.md'), await cellsOf('replay', reportReplay));
});
