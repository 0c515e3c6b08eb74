import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { connectPartners } from '../../../partners/clients/connect.ts';
import { controlPartners } from '../../../partners/control.ts';
import { startPartners } from '../../../partners/server/server.ts';
import { call, failsAs, requests } from './running.ts';

const program = fileURLToPath(new URL('../../../workers/partners.ts', import.meta.url));
const reference = 'acme/PO-1';
const { charge, mail, place } = requests(reference);
const dayMs = 24 * 60 * 60 * 1_000;

interface Started {
  child: ChildProcess;
  url: string;
  /** Every line of its log so far. */
  log: string[];
  /** What ended it: its exit code or a signal. */
  ended: Promise<number | NodeJS.Signals | null>;
}

const logLine = z.object({ msg: z.string(), url: z.string().optional() });

/**
 * Starts the partners as a process of their own and waits for the line that says they listen. `limit`
 * is a shell command that goes before, such as a `ulimit`.
 */
async function start(
  t: TestContext,
  settings: Record<string, string>,
  limit = ':',
): Promise<Started> {
  const script = `${limit}; exec "$0" "$1"`;
  const child = spawn('/bin/sh', ['-c', script, process.execPath, program], {
    env: settings,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const log: string[] = [];
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.push(line);
      const { msg, url } = logLine.parse(JSON.parse(line));
      if (msg === 'ready' && url) resolve(url);
    });
    void ended.then((end) => reject(new Error(`ended with ${end}:\n${log.join('\n')}`)));
  });
  return { child, url, log, ended };
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'q2t-partners-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

function clients(t: TestContext, baseUrl: string) {
  const partners = connectPartners({ baseUrl });
  t.after(() => partners.close());
  return { partners, control: controlPartners(baseUrl) };
}

test('effects, keys, statements and the clock survive SIGKILL', async (t) => {
  const stateFile = join(await folder(t), 'not-there-yet', 'state.jsonl');
  const first = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const before = clients(t, first.url);
  const { chargeId } = await before.partners.payments.charge(charge, call);
  const { supplierOrderId } = await before.partners.supplier.place(place, call);
  await before.control.advanceClock(3 * dayMs);
  await before.partners.mailer.send(mail, call);
  const effects = await before.control.effects();
  const now = await before.control.now();
  first.child.kill('SIGKILL');
  assert.equal(await first.ended, 'SIGKILL');

  const second = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const after = clients(t, second.url);
  assert.deepEqual(await after.control.effects(), effects);
  assert.ok((await after.control.now()) >= now);
  const statement = await after.partners.payments.findCharges({ reference, key: charge.key }, call);
  assert.deepEqual(statement, [{ chargeId }]);
  await after.partners.supplier.cancel({ supplierId: 'sup_881', supplierOrderId, reference }, call);
  assert.equal((await after.control.counts()).cancel, 1);
});

test('a key is not forgotten by a restart', async (t) => {
  const stateFile = join(await folder(t), 'state.jsonl');
  const first = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const made = await clients(t, first.url).partners.payments.charge(charge, call);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const { partners, control } = clients(t, second.url);
  assert.deepEqual(await partners.payments.charge(charge, call), made);
  const dearer = { ...charge, amount: { currency: 'EUR', minor: 1 } };
  await failsAs(partners.payments.charge(dearer, call), 'never', 'key-reused');
  assert.equal((await control.counts()).charge, 1);
});

test('everything that was answered before a SIGKILL in full flight is there afterwards', async (t) => {
  const stateFile = join(await folder(t), 'state.jsonl');
  const first = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const { partners } = clients(t, first.url);
  const answered: string[] = [];
  const sendUntilItDies = async () => {
    for (;;) {
      answered.push((await partners.mailer.send(mail, call)).mailId);
      if (answered.length === 100) first.child.kill('SIGKILL');
    }
  };
  const senders = Array.from({ length: 8 }, () => assert.rejects(sendUntilItDies()));
  await Promise.all(senders);
  const second = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const kept = new Set((await clients(t, second.url).control.effects()).map(({ id }) => id));
  assert.ok(answered.length >= 100);
  assert.deepEqual(
    answered.filter((mailId) => !kept.has(mailId)),
    [],
  );
});

for (const [what, tear] of [
  ['half a line', (file: string) => appendFile(file, '{"type":"act","effe')],
  ['a line of zeros', (file: string) => appendFile(file, `${'\0'.repeat(20)}\n`)],
] as const) {
  test(`${what} at the end of the state file is cut off and reported, the rest stays`, async (t) => {
    const stateFile = join(await folder(t), 'state.jsonl');
    const first = await startPartners({ stateFile });
    const { partners, control } = clients(t, first.url);
    await partners.mailer.send(mail, call);
    const effects = await control.effects();
    await first.close();
    const whole = await readFile(stateFile);
    await tear(stateFile);
    const torn = (await readFile(stateFile)).length - whole.length;

    const second = await start(t, { PARTNERS_STATE_FILE: stateFile });
    const after = clients(t, second.url);
    assert.equal((await after.control.health()).tornBytes, torn);
    assert.ok(second.log.some((line) => line.includes('cut off a torn last line')));
    assert.deepEqual(await readFile(stateFile), whole);
    assert.deepEqual(await after.control.effects(), effects);
    await after.partners.mailer.send(mail, call);
    assert.equal((await after.control.counts()).mail, 2);
  });
}

test('a state file damaged anywhere else is refused with the line, and not touched', async (t) => {
  const stateFile = join(await folder(t), 'state.jsonl');
  const advance = '{"type":"clock","offsetMs":5}\n';
  for (const [content, names] of [
    [`${advance}{"type":\n${advance}`, /state\.jsonl, line 2/],
    [`${advance}{"type":"loan"}\n${advance}`, /line 2[^]*type/],
  ] as const) {
    await writeFile(stateFile, content);
    await assert.rejects(startPartners({ stateFile }), names);
    assert.equal(await readFile(stateFile, 'utf8'), content);
  }
});

test('an effect that can’t be written down does not happen, and the file stays whole', async (t) => {
  const stateFile = join(await folder(t), 'state.jsonl');
  const full = await start(t, { PARTNERS_STATE_FILE: stateFile }, 'ulimit -f 4');
  const { partners, control } = clients(t, full.url);
  const mailsUntilFull = async () => {
    for (;;) await partners.mailer.send(mail, call);
  };
  await failsAs(mailsUntilFull(), 'unknown', 'server-error');
  const effects = await control.effects();
  assert.ok(effects.length > 0);
  assert.ok(full.log.some((line) => line.includes('EFBIG')));
  full.child.kill('SIGKILL');
  await full.ended;

  const second = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const after = clients(t, second.url);
  assert.equal((await after.control.health()).tornBytes, 0);
  assert.deepEqual(await after.control.effects(), effects);
});

test('a port that is taken is an error that names it', async (t) => {
  const first = await startPartners();
  t.after(() => first.close());
  const port = Number(new URL(first.url).port);
  await assert.rejects(startPartners({ port }), new RegExp(`EADDRINUSE.*${port}`));
});

test('SIGTERM ends the process at once, also while requests are held, and does not act on them', async (t) => {
  const stateFile = join(await folder(t), 'state.jsonl');
  const first = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const { partners, control } = clients(t, first.url);
  await control.setFault({ operation: 'place', effect: { kind: 'hang-before' } });
  await control.setFault({ operation: 'send', effect: { kind: 'hang-after' } });
  await control.setFault({ operation: 'charge', effect: { kind: 'delay', ms: 3_600_000 } });
  const lost = [
    failsAs(partners.supplier.place(place, call), 'unknown', 'connection-lost'),
    failsAs(partners.mailer.send(mail, call), 'unknown', 'connection-lost'),
    failsAs(partners.payments.charge(charge, call), 'unknown', 'connection-lost'),
  ];
  for (const operation of ['place', 'send', 'charge']) {
    await control.waitUntilHeld({ operation }, 10_000);
  }
  first.child.kill('SIGTERM');
  assert.equal(await first.ended, 0);
  await Promise.all(lost);
  const second = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const { mail: mails, order, charge: charges } = await clients(t, second.url).control.counts();
  assert.deepEqual([mails, order, charges], [1, 0, 0]);
});

test('a setting that is wrong ends the process with its name and exit code 2', async (t) => {
  for (const [name, value] of [
    ['PARTNERS_PORT', 'eighty'],
    ['PARTNERS_PORT', '70000'],
    ['PARTNERS_STATE_FILE', ''],
  ] as const) {
    await assert.rejects(start(t, { [name]: value }), new RegExp(`ended with 2:[^]*${name}`));
  }
});
