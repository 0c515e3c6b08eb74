import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import type { PartnersControl } from '../../partners/control.ts';
import { controlPartners } from '../../partners/control.ts';
import { startPartners } from '../../partners/server/server.ts';
import type { Database } from '../../stack/databases.ts';
import { freshDatabase } from '../support/postgres.ts';
import { anOrder } from '../support/orders.ts';
import { until } from '../support/until.ts';
import { assertGolden, q2t, q2tInside } from './q2t.ts';
import { keyOf } from './sides.ts';

const WORKER = fileURLToPath(new URL('../../workers/chain.ts', import.meta.url));

describe('the command line on the chain', () => {
  let database: Database;
  let partners: PartnersControl;
  let stop: () => Promise<void>;

  before(async () => {
    database = await freshDatabase();
    const server = await startPartners();
    partners = controlPartners(server.url);
    const env = { DATABASE_URL: database.url, PARTNERS_URL: server.url };
    const worker = execa(process.execPath, [WORKER], {
      env: { ...isolatedEnv(process.env), ...env },
      extendEnv: false,
      reject: false,
    });
    stop = async () => {
      worker.kill('SIGTERM');
      const { exitCode, stdout } = await worker;
      await server.close();
      await database.drop();
      assert.equal(exitCode, 0, stdout);
    };
  });
  after(() => stop());

  const run = (args: readonly string[], input = '', how = q2tInside) => {
    return how([...args, '--on', 'chain'], { env: { DATABASE_URL: database.url }, input });
  };

  test('an order that is submitted to the chain goes all the way', async () => {
    const order = anOrder();
    const started = await run(['submit', '-'], JSON.stringify(order), q2t);
    assert.equal(started.exitCode, 0, started.stderr);
    assert.equal(started.stdout, `${keyOf(order)}  started`);
    await until('its mail', async () => (await partners.counts(keyOf(order))).mail === 1);
  });

  test('a request in words goes all the way too, under a reference that is printed', async () => {
    const who = ['--buyer', 'acme', '--email', 'buyer@acme.example'];
    const started = await run(['agent', 'ask', '3 office chairs', ...who, '--follow'], '', q2t);
    assert.equal(started.exitCode, 0, started.stderr);
    const [, request = ''] =
      /^(acme\/REQ-\d{8}-[a-z2-9]{5}) {2}started$/.exec(started.stdout) ?? [];
    assert.match(started.stderr, /Not followed: no row says which turn/);
    const mailed = async () => (await partners.counts(`${request}-PO`)).mail === 1;
    await until('the mail of its order', mailed);
  });

  const who = ['--by', 'Ann', '--why', 'because'];
  const questions: [string[], RegExp][] = [
    [['where', 'REF', '--history'], /no row says where an order is/],
    [['decide', 'REF', 'approve', '--by', 'Ann'], /no pause that an answer could meet/],
    [['cancel', 'REF', '--by', 'Ann', '--reason', 'twice'], /no message can be found by its order/],
    [['list'], /no runs to list/],
    [['reset', 'REF', ...who], /no past to go back to/],
    [['dead-letters', 'list'], /can be counted and redriven/],
    [['dead-letters', 'show', 'REF'], /can be counted and redriven/],
    [['dead-letters', 'replay', 'REF', ...who], /redrive takes them all/],
    [['dead-letters', 'discard', 'REF', ...who], /is not recorded, so it cannot be undone/],
    [['dead-letters', 'fix', 'REF', '-', ...who], /the order is inside a message body/],
    [['versions'], /meets the code of whoever receives it/],
    [['versions', 'set-current', '2', '--by', 'Ann'], /meets the code of whoever receives it/],
    [['versions', 'ramp', '2', '10', '--by', 'Ann'], /meets the code of whoever receives it/],
    [['versions', 'move', 'REF', '2', '--by', 'Ann'], /meets the code of whoever receives it/],
    [['agent', 'where', 'REF'], /no row says which turn a request is at/],
    [['agent', 'answer', 'REF', 'blue', '--by', 'Ann'], /no pause that an answer could meet/],
    [
      ['agent', 'cancel', 'REF', '--by', 'Ann', '--reason', 'twice'],
      /no message can be found by its request/,
    ],
    [['agent', 'transcript', 'REF'], /what was said is nowhere to be read/],
    [['agent', 'list'], /no requests to list/],
    [['agent', 'dead-letters', 'list'], /what their model has cost is unknown/],
    [['agent', 'dead-letters', 'show', 'REF'], /what their model has cost is unknown/],
    [['agent', 'dead-letters', 'replay', 'REF', ...who], /redrive takes them all/],
    [['agent', 'dead-letters', 'discard', 'REF', ...who], /not found by its request/],
    [['agent', 'collect'], /it has no store/],
  ];

  for (const [question, reason] of questions) {
    const command = question.join(' ').split(' REF')[0];
    test(`${command} ends with 2 and the chain's own reason, however the order is named`, async () => {
      const order = anOrder();
      for (const name of [order.orderRef, keyOf(order)]) {
        const args = question.map((word) => (word === 'REF' ? name : word));
        const { exitCode, stdout, stderr } = await run(args, JSON.stringify(order));
        assert.equal(exitCode, 2, stderr);
        assert.equal(stdout, '');
        assert.match(stderr, /^q2t: chain cannot: /m);
        assert.match(stderr, reason);
      }
    });
  }

  test('what the chain cannot do is told in one sentence, and with --json as a document', async () => {
    await assertGolden('where-chain', await run(['where', 'PO-1']));
    const { exitCode, stdout } = await run(['where', 'PO-1', '--json']);
    const document = JSON.parse(stdout) as { exitCode: number; error: { message: string } };
    assert.equal(document.exitCode, exitCode);
    assert.match(document.error.message, /^chain cannot: no row says/);
  });
});
