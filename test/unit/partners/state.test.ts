import assert from 'node:assert/strict';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { startPartners } from '../../../partners/server/server.ts';
import { call, failsAs, requests } from './running.ts';
import { clients, newStateFile, start } from './started.ts';

const reference = 'acme/PO-1';
const { charge, mail, place } = requests(reference);
const dayMs = 24 * 60 * 60 * 1_000;

test('effects, keys, statements and the clock survive SIGKILL', async (t) => {
  const stateFile = join(dirname(await newStateFile(t)), 'not-there-yet', 'state.jsonl');
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
  const stateFile = await newStateFile(t);
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
  const stateFile = await newStateFile(t);
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
    const stateFile = await newStateFile(t);
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
  const stateFile = await newStateFile(t);
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
  const stateFile = await newStateFile(t);
  const full = await start(t, { PARTNERS_STATE_FILE: stateFile }, 'ulimit -f 4');
  const { partners, control } = clients(t, full.url);
  const mailsUntilFull = async () => {
    for (;;) await partners.mailer.send(mail, call);
  };
  await failsAs(mailsUntilFull(), 'unknown', 'server-error');
  const effects = await control.effects();
  assert.ok(effects.length > 0);
  full.child.kill('SIGKILL');
  await full.ended;
  assert.ok(full.log.some((line) => line.includes('EFBIG')));

  const second = await start(t, { PARTNERS_STATE_FILE: stateFile });
  const after = clients(t, second.url);
  assert.equal((await after.control.health()).tornBytes, 0);
  assert.deepEqual(await after.control.effects(), effects);
});
