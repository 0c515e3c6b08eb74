import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPartners } from '../../../partners/server/server.ts';
import { call, failsAs, requests } from './running.ts';
import { clients, newStateFile, start } from './started.ts';

const { charge, mail, place } = requests('acme/PO-1');

test('a port that is taken is an error that names it', async (t) => {
  const first = await startPartners();
  t.after(() => first.close());
  const port = Number(new URL(first.url).port);
  await assert.rejects(startPartners({ port }), new RegExp(`EADDRINUSE.*${port}`));
});

test('SIGTERM ends the process at once, also while requests are held, and does not act on them', async (t) => {
  const stateFile = await newStateFile(t);
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
