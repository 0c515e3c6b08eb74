import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readBind, readRow, Splitter } from '../../../../lab/wire/postgres/messages.ts';
import { readStartup } from '../../../../lab/wire/postgres/startup.ts';

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

test('however a stream is cut up, its messages and its bytes are the same', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('Q', 'D', 'Z'), fc.uint8Array({ maxLength: 40 }))),
      fc.array(fc.integer({ min: 1, max: 17 }), { minLength: 1 }),
      (messages, cuts) => {
        const stream = Buffer.concat(
          messages.map(([type, body]) => message(type, Buffer.from(body))),
        );
        const splitter = new Splitter();
        const pieces = [];
        for (let at = 0, n = 0; at < stream.length; n += 1) {
          const size = cuts[n % cuts.length] ?? 1;
          pieces.push(...splitter.push(stream.subarray(at, at + size)));
          at += size;
        }
        assert.ok(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(stream));
        assert.deepEqual(
          pieces.map(({ type, body }) => [type, body.toString('hex')]),
          messages.map(([type, body]) => [type, Buffer.from(body).toString('hex')]),
        );
      },
    ),
  );
});

test('a message too long to keep passes whole, known by its first part', () => {
  const long = message('Q', Buffer.alloc(3_000_000, 'a'));
  const splitter = new Splitter();
  const pieces = [0, 1_000_000, 2_000_000, 3_000_000].flatMap((at) => [
    ...splitter.push(long.subarray(at, at + 1_000_000)),
  ]);
  assert.ok(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(long));
  assert.equal(pieces[0]?.type, 'Q');
  assert.deepEqual(new Set(pieces.slice(1).map(({ type }) => type)), new Set(['']));
  assert.ok(pieces.every(({ body }) => body.length <= 256 * 1024));
  assert.equal([...splitter.push(message('S', Buffer.alloc(0)))][0]?.type, 'S');
});

test('a message cut short is read as far as it goes', () => {
  const whole = Buffer.from(
    '00' + '7300' + '0000' + '0002' + '00000002' + '6869' + 'ffffffff',
    'hex',
  );
  assert.deepEqual(readBind(whole), { portal: '', statement: 's', params: ['hi', null] });
  for (let length = 0; length < whole.length; length += 1) {
    assert.equal(readBind(whole.subarray(0, length)).portal, '');
    readRow(whole.subarray(0, length));
  }
});

test('what is no Postgres client is refused, not forwarded', () => {
  assert.throws(() => readStartup(Buffer.from('GET / HTTP/1.1\r\n\r\n')), RangeError);
  assert.throws(() => readStartup(Buffer.from('1603010200010001', 'hex')), RangeError);
  assert.throws(() => [...new Splitter().push(Buffer.from('5100000001', 'hex'))], RangeError);
});
