import assert from 'node:assert/strict';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertGolden, q2t, q2tInside } from './q2t.ts';

/** In place of a server: whoever calls it has tried to start something. */
let server: Server;
let calls = 0;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q2t-bad-orders-'));
  server = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

after(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const line = {
  lineId: '1',
  sku: 'SN-33',
  name: 'Brown sauce',
  quantity: '10',
  unit: 'NAR',
  unitPrice: '4.00',
};
const order = {
  orderRef: 'PO-1',
  buyer: { id: 'acme', name: 'Acme', email: 'orders@acme.example' },
  supplierId: 'sup_881',
  currency: 'EUR',
  lines: [line],
};
const good = JSON.stringify(order);
const withLine = (changes: object) =>
  JSON.stringify({ ...order, lines: [{ ...line, ...changes }] });
const withoutReference = JSON.stringify({ ...order, orderRef: undefined });

const entityBomb = `<?xml version="1.0"?>
<!DOCTYPE Order [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>
<Order xmlns="urn:oasis:names:specification:ubl:schema:xsd:Order-2"><ID>&c;</ID></Order>`;

const bad: [string, string, RegExp][] = [
  ['a missing field', withoutReference, /orderRef: is missing/],
  ['a field of the wrong type', withLine({ name: 5 }), /lines\[0\]\.name/],
  [
    'a number where a decimal string belongs',
    withLine({ quantity: 10 }),
    /lines\[0\]\.quantity: must be a string, not a number/,
  ],
  ['a negative quantity', withLine({ quantity: '-1' }), /lines\[0\]\.quantity/],
  ['a 200-digit number', withLine({ unitPrice: '9'.repeat(200) }), /lines\[0\]\.unitPrice/],
  ['an unknown currency', JSON.stringify({ ...order, currency: 'EUX' }), /currency/],
  ['a line id used twice', JSON.stringify({ ...order, lines: [line, line] }), /lines\[1\]\.lineId/],
  ['no lines', JSON.stringify({ ...order, lines: [] }), /lines/],
  [
    '10,000 lines',
    JSON.stringify({
      ...order,
      lines: Array.from({ length: 10_000 }, (_, index) => ({ ...line, lineId: `${index}` })),
    }),
    /2500/,
  ],
  [
    'control characters in a name',
    withLine({ name: 'a\u001b[31mb' }),
    /lines\[0\]\.name[^]*U\+001B/,
  ],
  ['a charge date years ahead', JSON.stringify({ ...order, chargeOn: '2099-01-01' }), /chargeOn/],
  ['an entity bomb', entityBomb, /DOCTYPE|entit/i],
  ['broken XML', '<Order><ID>1</Order>', /line 1|1:/],
  ['text that is neither JSON nor XML', 'orderRef: PO-1', /is not JSON/],
  ['nothing', '', /is empty/],
];

for (const [what, content, told] of bad) {
  test(`an order with ${what} is refused by name, and nothing is started`, async () => {
    const before = calls;
    const { exitCode, stdout, stderr } = await q2tInside(['submit', '-'], {
      input: content,
      env: { TEMPORAL_ADDRESS: address() },
    });
    assert.equal(exitCode, 2, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, told);
    assert.match(stderr, /Nothing was started\./);
    assert.ok(!stderr.includes('\u001b'));
    assert.equal(calls, before);
  });
}

test('a 50 MB file is refused by its size, without being read to the end', async () => {
  const file = join(folder, 'large.json');
  const handle = await open(file, 'w');
  await handle.truncate(50_000_000);
  await handle.close();
  const { exitCode, stderr } = await submit(file);
  assert.equal(exitCode, 2);
  assert.match(stderr, /larger than 10 MB/);
});

test('input without an end is refused by its size', async () => {
  const { exitCode, stderr } = await submit('/dev/zero');
  assert.equal(exitCode, 2);
  assert.match(stderr, /larger than 10 MB/);
});

test('a file that is not there and a folder are named', async () => {
  const { exitCode, stderr } = await submit(join(folder, 'nowhere.json'), folder);
  assert.equal(exitCode, 2);
  assert.match(stderr, /nowhere\.json: can't be read \(ENOENT/);
  assert.match(stderr, /EISDIR/);
});

test('one bad file of several holds all of them back', async () => {
  await writeFile(join(folder, 'good.json'), good);
  await writeFile(join(folder, 'bad.json'), withLine({ quantity: '0' }));
  const { exitCode, stderr } = await submit(join(folder, 'good.json'), join(folder, 'bad.json'));
  assert.equal(exitCode, 2);
  assert.match(stderr, /bad\.json: lines\[0\]\.quantity/);
  assert.doesNotMatch(stderr, /good\.json/);
  assert.equal(calls, 0);
});

test('two orders of one batch that contradict each other hold all of them back', async () => {
  await writeFile(join(folder, 'one.json'), good);
  await writeFile(join(folder, 'other.json'), withLine({ quantity: '11' }));
  const { exitCode, stderr } = await submit(join(folder, 'one.json'), join(folder, 'other.json'));
  assert.equal(exitCode, 2);
  assert.match(stderr, /acme\/PO-1 is also in .*one\.json, with other content/);
  assert.equal(calls, 0);
});

test('standard input can be named once only', async () => {
  const { exitCode, stderr } = await q2tInside(['submit', '-', '-'], { input: good });
  assert.equal(exitCode, 2);
  assert.match(stderr, /once only/);
});

test('every fault is shown with its place and what to do', async () => {
  const faults = { ...order, orderRef: undefined, currency: 'EUX', extra: true };
  await assertGolden('faults', await q2t(['submit', '-'], { input: JSON.stringify(faults) }));
});

test('with --json the faults are data', async () => {
  const { exitCode, stdout } = await q2tInside(['submit', '-', '--json'], {
    input: withoutReference,
  });
  assert.equal(exitCode, 2);
  const document = JSON.parse(stdout) as { error: { faults: unknown[] } };
  assert.deepEqual(document.error.faults, [
    { file: '-', path: 'orderRef', message: 'is missing', hint: 'it must be a string' },
  ]);
});

function submit(...files: string[]) {
  return q2t(['submit', ...files], { env: { TEMPORAL_ADDRESS: address() } });
}

function address(): string {
  // A server that listens on a port has an address and not a pipe's name.
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
