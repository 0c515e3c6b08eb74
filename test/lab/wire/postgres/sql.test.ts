import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classify, labelOf, wrote } from '../../../../lab/wire/postgres/sql.ts';

test('a text says which tables it writes, in its order', () => {
  const writes = (text: string) => classify(text).writes;
  assert.deepEqual(writes('UPDATE queue.run SET a = 1'), ['update queue.run']);
  assert.deepEqual(writes('insert  into\n "Ledger" (a) values (1)'), ['insert into "ledger"']);
  assert.deepEqual(
    writes('WITH gone AS (DELETE FROM message RETURNING *) INSERT INTO dead SELECT * FROM gone'),
    ['delete from message', 'insert into dead'],
  );
  assert.deepEqual(writes('COPY t (a, b) FROM STDIN'), ['copy t']);
  assert.deepEqual(writes('CREATE TABLE x (a int)'), ['create table x']);
});

test('locks, conflict clauses, reads, comments and quoted words write nothing', () => {
  for (const text of [
    'SELECT * FROM run FOR UPDATE SKIP LOCKED',
    'SELECT * FROM run FOR NO KEY UPDATE',
    "SELECT 'insert into x', $$ delete from y $$ -- update z set a = 1",
    'SELECT 1 /* delete from x */',
    'COPY t TO STDOUT',
    'LISTEN orders',
    'SELECT last_update FROM t',
  ])
    assert.deepEqual(classify(text).writes, [], text);
  assert.deepEqual(
    classify('INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2').writes,
    ['insert into t'],
  );
});

test('a claim is named by what it updates, not by the rows it locks', () => {
  const claim = `
    WITH picked AS MATERIALIZED (SELECT id FROM queue.message LIMIT 1 FOR UPDATE SKIP LOCKED)
    UPDATE queue.message AS m SET receipt = 1 FROM picked WHERE m.id = picked.id RETURNING m.id`;
  assert.equal(labelOf({ name: '', text: claim }), 'update queue.message');
  assert.equal(labelOf({ name: 'q2t_claim', text: claim }), 'q2t_claim');
  assert.equal(labelOf({ name: '', text: `-- name: claim\n${claim}` }), 'claim');
});

test('a statement that found nothing to do wrote nothing', () => {
  assert.equal(wrote('UPDATE 0', 'UPDATE t SET a = 1'), false);
  assert.equal(wrote('INSERT 0 0', 'INSERT INTO t SELECT 1 WHERE false'), false);
  assert.equal(wrote('UPDATE 2', 'UPDATE t SET a = 1'), true);
  assert.equal(wrote('INSERT 0 1', 'EXECUTE prepared'), true);
  assert.equal(wrote('SELECT 4', 'SELECT 1'), false);
  assert.equal(wrote('COPY 4', 'COPY t TO STDOUT'), false);
  assert.equal(
    wrote('SELECT 1', 'WITH a AS (UPDATE t SET a = 1 RETURNING 1) SELECT * FROM a'),
    true,
  );
  // The tag counts the last statement only; another one of the text may have written.
  assert.equal(wrote('UPDATE 0', 'WITH a AS (INSERT INTO t VALUES (1)) UPDATE u SET b = 1'), true);
});

test('a transaction is begun and committed by statements, not by words in them', () => {
  assert.equal(classify('BEGIN ISOLATION LEVEL SERIALIZABLE').begins, true);
  assert.equal(classify('start transaction read only').begins, true);
  assert.equal(classify('COMMIT').commits, true);
  assert.equal(classify('END').commits, true);
  assert.equal(classify("SELECT 'commit'").commits, false);
  assert.equal(classify('SELECT CASE WHEN a THEN 1 END FROM t').commits, false);
});
