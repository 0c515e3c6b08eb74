import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { onlyOf, runAmong } from '../../../../lab/wire/postgres/naming.ts';
import { copyIn } from './copy.ts';
import { RUN, RUNS, step } from './steps.ts';
import { wired } from './wired.ts';

/** One run the way the queue does it: a claim, two steps, a read, an ack, an empty poll between. */
async function oneRun(client: pg.Client): Promise<void> {
  await client.query('UPDATE message SET claimed = true WHERE NOT claimed RETURNING body');
  await step(client);
  await client.query('SELECT * FROM run WHERE id = $1 FOR UPDATE', [RUN]);
  await client.query('UPDATE message SET claimed = true WHERE NOT claimed RETURNING body');
  await step(client);
  await client.query("DELETE FROM message WHERE body->>'run' = $1", [RUN]);
}

test('boundaries are commits and single writes, named by run and statements', async (t) => {
  const { client, direct, proxy } = await wired(t);
  await direct.query('INSERT INTO message (body) VALUES ($1)', [{ run: RUN }]);
  await oneRun(await client());
  assert.deepEqual(
    proxy.boundaries().map(({ name, ordinal, foreseen }) => ({ name, ordinal, foreseen })),
    [
      // Its run is in the row it returned, so nobody could have named it beforehand.
      { name: `${RUN} | update message #1`, ordinal: 1, foreseen: false },
      { name: `${RUN} | update run, insert into history #1`, ordinal: 2, foreseen: true },
      { name: `${RUN} | update run, insert into history #2`, ordinal: 3, foreseen: true },
      { name: `${RUN} | delete from message #1`, ordinal: 4, foreseen: true },
    ],
  );
  assert.deepEqual(new Set(proxy.boundaries().map((each) => each.client)), new Set(['worker']));
});

test('two undisturbed runs of the same thing have the same boundaries in the same order', async (t) => {
  const lists = [];
  for (let again = 0; again < 2; again += 1) {
    const { client, direct, proxy } = await wired(t);
    await direct.query('INSERT INTO message (body) VALUES ($1)', [{ run: RUN }]);
    await oneRun(await client());
    lists.push(proxy.boundaries());
  }
  assert.equal(lists[0]?.length, 4);
  assert.deepEqual(lists[0], lists[1]);
});

test('runs side by side each keep their own boundaries in order, whatever is between them', async (t) => {
  const { client, direct, proxy } = await wired(t);
  await direct.query('INSERT INTO run SELECT unnest($1::text[])', [RUNS]);
  await Promise.all(
    RUNS.map(async (run) => {
      const wire = await client();
      for (let steps = 0; steps < 5; steps += 1) await step(wire, run);
    }),
  );
  for (const run of RUNS)
    assert.deepEqual(
      proxy
        .boundaries()
        .filter((each) => each.run === run)
        .map(({ label }) => label),
      [1, 2, 3, 4, 5].map((n) => `update run, insert into history #${n}`),
    );
});

test('what wrote nothing or was rolled back is no boundary', async (t) => {
  const { client, proxy } = await wired(t);
  const wire = await client();
  await wire.query('BEGIN');
  await wire.query('UPDATE run SET step = 9');
  await wire.query('ROLLBACK');
  await wire.query('BEGIN');
  await wire.query('UPDATE run SET step = 9');
  await wire.query('SELECT 1/0').catch(() => {});
  // Answered with ROLLBACK, since the transaction had failed.
  await wire.query('COMMIT');
  await wire.query('UPDATE run SET step = 9 WHERE id = $1', ['nobody']);
  await wire.query('BEGIN');
  await wire.query('SELECT * FROM run FOR UPDATE');
  await wire.query('COMMIT');
  await wire.query('UPDATE run SET step = 1; SELECT 1/0').catch(() => {});
  await wire.query('LISTEN x');
  assert.deepEqual(proxy.boundaries(), []);
});

test('a deferred constraint that fails at COMMIT leaves no boundary', async (t) => {
  const { client, direct, proxy } = await wired(t);
  await direct.query('CREATE TABLE child (run text REFERENCES run DEFERRABLE INITIALLY DEFERRED)');
  const wire = await client();
  await wire.query('BEGIN');
  await wire.query('INSERT INTO child VALUES ($1)', ['nobody']);
  await assert.rejects(wire.query('COMMIT'), /foreign key/);
  assert.deepEqual(proxy.boundaries(), []);
});

test('prepared statements give a boundary their names; the lab can name runs and leave heartbeats out', async (t) => {
  const { client, proxy } = await wired(t, {
    runOf: ({ params }) => params.find((param) => param?.startsWith('order/')) ?? 'some run',
    ignore: onlyOf(['heartbeat']),
  });
  const wire = await client();
  const beat = {
    name: 'heartbeat',
    text: 'UPDATE run SET step = step WHERE id = $1',
    values: [RUN],
  };
  const save = { name: 'run-save', text: 'UPDATE run SET step = 2 WHERE id = $1', values: [RUN] };
  for (const query of [beat, save, beat, save]) await wire.query(query);
  await wire.query('INSERT INTO history (what) VALUES (1)');
  assert.deepEqual(
    proxy.boundaries().map(({ name }) => name),
    [`${RUN} | run-save #1`, `${RUN} | run-save #2`, 'some run | insert into history #1'],
  );
});

test('several statements in one query, and COPY, are followed as well', async (t) => {
  const { client, proxy } = await wired(t);
  const wire = await client();
  await wire.query(`BEGIN; UPDATE run SET step = 1 WHERE id = '${RUN}'; COMMIT`);
  await wire.query(`BEGIN; UPDATE run SET step = 2; COMMIT; SELECT 1/0`).catch(() => {});
  await wire.query('CREATE TABLE more (a int)');
  await copyIn(wire, 'COPY more FROM STDIN', '1\n2\n');
  assert.deepEqual(
    proxy.boundaries().map(({ name }) => name),
    [`${RUN} | update run #1`, '- | update run #1', '- | create table more #1', '- | copy more #1'],
  );
});

test('a run is found by its id alone, in JSON, or at the start of an effect key; never by likeness', () => {
  const runOf = runAmong(new Set(['acme/PO-1', 'order/acme/PO%2F2']));
  const found = (value: string) =>
    runOf({ name: '', text: '', params: [null, value], results: [] });
  assert.equal(found('acme/PO-1'), 'acme/PO-1');
  assert.equal(found('{"runId":"acme/PO-1"}'), 'acme/PO-1');
  assert.equal(found('acme/PO-1/r1/charge'), 'acme/PO-1');
  assert.equal(found('{"id":"order/acme/PO%2F2"}'), 'order/acme/PO%2F2');
  for (const other of ['acme/PO-11', 'xacme/PO-1', 'acme/PO', 'Europe/Amsterdam', 'PO-1'])
    assert.equal(found(other), undefined, other);
});
