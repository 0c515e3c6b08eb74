import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, failsAs, requests, running } from './running.ts';

const reference = 'acme/PO-1';
const { enquire, reserve, release } = requests(reference);
const yearMs = 365 * 24 * 60 * 60 * 1_000;

test('an enquiry under the same key is paid for once, also a year later', async (t) => {
  const { partners, control } = await running(t);
  const first = await partners.bureau.enquire(enquire, call);
  await control.advanceClock(yearMs);
  assert.deepEqual(await partners.bureau.enquire(enquire, call), first);
  assert.equal((await control.counts(reference)).enquiry, 1);
});

test('an enquiry under another key costs again and finds the same score', async (t) => {
  const { partners, control } = await running(t);
  const first = await partners.bureau.enquire(enquire, call);
  const second = await partners.bureau.enquire({ ...enquire, key: 'acme/PO-1/r2/credit' }, call);
  assert.equal(second.score, first.score);
  assert.notEqual(second.enquiryId, first.enquiryId);
  assert.equal((await control.counts(reference)).enquiry, 2);
});

test('a buyer’s score is good unless the id starts with "refused", then it is 100', async (t) => {
  const { partners } = await running(t);
  const scoreOf = async (buyerId: string) =>
    (await partners.bureau.enquire({ ...enquire, buyerId, key: encodeURIComponent(buyerId) }, call))
      .score;
  assert.equal(await scoreOf('refused-12'), 100);
  for (const buyerId of ['acme', 'Łódź & Söhne', 'declined-1', 'not-refused', '1']) {
    const score = await scoreOf(buyerId);
    assert.ok(score >= 500 && score < 950, `${buyerId}: ${score}`);
  }
});

test('a reservation under the same key is made once, also a year later', async (t) => {
  const { partners, control } = await running(t);
  const first = await partners.warehouse.reserve(reserve, call);
  await control.advanceClock(yearMs);
  assert.deepEqual(await partners.warehouse.reserve(reserve, call), first);
  assert.equal((await control.counts(reference)).reservation, 1);
});

test('a reservation key that comes with other lines is refused for good', async (t) => {
  const { partners } = await running(t);
  await partners.warehouse.reserve(reserve, call);
  const other = { ...reserve, lines: [{ sku: 'SN-33', quantity: '3' }] };
  await failsAs(partners.warehouse.reserve(other, call), 'never', 'key-reused');
});

test('one line whose sku starts with NOSTOCK leaves the whole order unreserved', async (t) => {
  const { partners, control } = await running(t);
  const lines = [...reserve.lines, { sku: 'NOSTOCK-4', quantity: '1' }];
  const attempt = partners.warehouse.reserve({ ...reserve, lines }, call);
  const { message } = await failsAs(attempt, 'refused', 'out-of-stock');
  assert.match(message, /NOSTOCK-4/);
  assert.equal((await control.counts(reference)).reservation, 0);
});

test('a reservation of 2,500 lines with long skus fits', async (t) => {
  const { partners, control } = await running(t);
  const lines = Array.from({ length: 2_500 }, (_, n) => ({
    sku: `${n}-`.padEnd(200, 'x'),
    quantity: '123456.789',
  }));
  await partners.warehouse.reserve({ ...reserve, lines }, call);
  assert.equal((await control.counts(reference)).reservation, 1);
});

test('a release happens once, whatever key asks for it', async (t) => {
  const { partners, control } = await running(t);
  const { reservationId } = await partners.warehouse.reserve(reserve, call);
  assert.deepEqual(await partners.warehouse.release(release, call), { released: true });
  const otherKey = { ...release, key: 'acme/PO-1/r2/release' };
  assert.deepEqual(await partners.warehouse.release(otherKey, call), { released: true });
  const releases = await control.effects({ reference, kind: 'release' });
  assert.deepEqual(
    releases.map(({ undoes }) => undoes),
    [reservationId],
  );
});

test('a release of nothing is fine and is asked afresh once the reservation has landed', async (t) => {
  const { partners } = await running(t);
  assert.deepEqual(await partners.warehouse.release(release, call), { released: false });
  await partners.warehouse.reserve(reserve, call);
  assert.deepEqual(await partners.warehouse.release(release, call), { released: true });
});
