import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Position } from '../../core/contract.ts';
import { attemptLines } from '../../client/view/attempts.ts';
import { changeLines } from '../../client/view/changes.ts';
import { historyLines } from '../../client/view/history.ts';
import { nextCommands, positionLines } from '../../client/view/position.ts';
import { tableLines } from '../../client/view/table.ts';
import { clean, text } from '../../client/view/text.ts';
import { localTime, relativeTo, when } from '../../client/view/time.ts';

const now = new Date('2026-12-01T12:00:00Z');

const position: Position = {
  id: { buyerId: 'acme', orderRef: '2026/17' },
  implementation: 'temporal',
  step: 'reserve',
  status: 'running',
  attempts: 0,
  since: '2026-12-01T11:58:00Z',
  startedAt: '2026-12-01T11:57:00Z',
  revision: 1,
  version: '1',
  history: [],
};

test('no text makes a terminal do anything, and harmless text stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      assert.doesNotMatch(clean(value), /[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u);
    }),
  );
  const harmless = ['Zoë & Søn', '<b>買い物</b>', '👩‍👩‍👧', 'می‌خواهم', '"\\'];
  for (const value of harmless) assert.equal(clean(value), value);
  assert.equal(text`a ${'\u001b[2J'} b`, 'a \\u{1b}[2J b');
});

test('a time says zone and distance, in the largest unit of which there are two', () => {
  const at = (iso: string) => relativeTo(now, new Date(iso));
  assert.equal(at('2026-12-01T12:00:01Z'), 'now');
  assert.equal(at('2026-12-01T11:59:00Z'), '60 seconds ago');
  assert.equal(at('2026-12-01T13:30:00Z'), 'in 90 minutes');
  assert.equal(at('2026-12-02T11:00:00Z'), 'in 23 hours');
  assert.equal(at('2026-12-06T11:59:59Z'), 'in 5 days');
  assert.match(localTime('2026-12-01T12:00:00Z'), /^2026-12-01 \d\d:\d\d:00 \S+$/);
  assert.equal(when('soon\u001b', now), 'soon\\u{1b}');
});

test('a retrying run shows the attempt, what failed and when the next one is', () => {
  const retrying: Position = {
    ...position,
    status: 'retrying',
    attempts: 3,
    lastFailure: 'busy: 503 from the warehouse',
    nextAttemptAt: '2026-12-01T12:05:00Z',
  };
  const lines = positionLines(retrying, now).join('\n');
  assert.match(lines, /acme\/2026%2F17 on temporal: retrying at reserve \(step 5 of 9\)/);
  assert.match(lines, /attempt +3, next 2026-12-01 .* \(in 5 minutes\)/);
  assert.match(lines, /failure +busy: 503 from the warehouse/);
  assert.match(lines, /since .*\(2 minutes ago\)/);
  assert.deepEqual(nextCommands(retrying), []);
});

test('a stuck run shows why, and the commands that help', () => {
  const stuck: Position = {
    ...position,
    implementation: 'queue',
    status: 'stuck',
    waitingFor: { kind: 'operator', reason: '10 attempts used up', since: position.since },
  };
  assert.match(positionLines(stuck, now).join('\n'), /an operator: 10 attempts used up/);
  const commands = nextCommands(stuck);
  assert.deepEqual(
    commands.map((command) => command.split(' ')[2]),
    ['show', 'replay', 'fix', 'discard'],
  );
  for (const command of commands) assert.match(command, /acme\/2026%2F17 .*--on queue$/);
});

test('a run that no code can go on with says which could not, what it waits for besides, and what helps', () => {
  const stalled = {
    since: '2026-12-01T11:50:00Z',
    reason:
      "version abc can't go on: at event 26 the history\u001b starts a timer; the code ends the run",
    eventId: 26,
    resetTo: 23,
  };
  const run: Position = { ...position, status: 'stuck', stalled };
  const lines = positionLines(run, now).join('\n');
  assert.match(lines, /stuck at /);
  assert.match(lines, /waits for other code: version abc can't go on: .*\\u\{1b\} starts a timer/);
  assert.match(lines, /since +2026-12-01 .* \(10 minutes ago\)/);
  assert.deepEqual(nextCommands(run), [
    'Roll the workers back or ship code that knows both; to go on with the code that runs now:',
    'q2t reset acme/2026%2F17 --by NAME --why TEXT',
  ]);
  const { since, reason } = stalled;
  const thrown: Position = { ...run, stalled: { since, reason } };
  assert.deepEqual(nextCommands(thrown), ['Roll the workers back or ship code that knows both.']);
  assert.deepEqual(nextCommands({ ...thrown, implementation: 'queue' }), []);
});

test('a run that waits for a date says which and until when', () => {
  const waiting: Position = {
    ...position,
    status: 'waiting',
    step: 'charge',
    waitingFor: {
      kind: 'date',
      what: 'the charge date',
      since: position.since,
      until: '2026-12-24T08:00:00Z',
    },
  };
  const lines = positionLines(waiting, now).join('\n');
  assert.match(lines, /waits for +a date: the charge date/);
  assert.match(lines, /until +2026-12-24 .* \(in 23 days\)/);
});

test('an ended run says how and why it ended', () => {
  const ended: Position = {
    ...position,
    status: 'ended',
    outcome: 'refused',
    reason: 'the card was\u001b declined',
    endedAt: '2026-12-01T11:59:00Z',
  };
  const lines = positionLines(ended, now);
  assert.equal(lines[0], 'acme/2026%2F17 on temporal: ended, refused');
  assert.match(lines.join('\n'), /reason +the card was\\u\{1b\} declined/);
  assert.match(lines.join('\n'), /ended +2026-12-01/);
});

test('equal failures in a row are one line, and a change starts the next', () => {
  const attempt = (minute: number, failureClass: string, message: string) => {
    return { at: `2026-12-01T11:0${minute}:00Z`, failureClass, message };
  };
  const lines = attemptLines([
    attempt(1, 'busy', '503'),
    attempt(2, 'busy', '503'),
    attempt(3, 'unknown', 'timeout'),
    attempt(4, 'busy', '503'),
  ]);
  assert.equal(lines.length, 3);
  assert.match(lines[0] ?? '', /1-2 .* to .* busy: 503/);
  assert.match(lines[1] ?? '', / 3 .*unknown: timeout/);
  assert.match(lines[2] ?? '', / 4 .*busy: 503/);
});

test('a fix shows each changed path before and after, also of text that is no JSON', () => {
  const before = JSON.stringify({ lines: [{ sku: 'A', quantity: '1' }], tax: '2' });
  const after = JSON.stringify({ lines: [{ sku: 'B', quantity: '1' }], chargeOn: '2026-12-24' });
  assert.deepEqual(changeLines(before, after), [
    '  - lines[0].sku "A"',
    '  + lines[0].sku "B"',
    '  - tax "2"',
    '  + chargeOn "2026-12-24"',
  ]);
  assert.deepEqual(changeLines(before, before), ['  nothing changed']);
  assert.deepEqual(changeLines('{"cut', '{}'), ['  - {"cut']);
});

test('a history has a line for every kind of event and names who did what', () => {
  const at = '2026-12-01T12:00:00Z';
  const gate = { gate: 'approval', gateVersion: 2, by: 'Ann' };
  const lines = historyLines(
    [
      { at, type: 'started', revision: 1 },
      { at, type: 'step-done', step: 'price', detail: '240 lines' },
      { at, type: 'waiting', step: 'approve', gate: 'approval', until: at },
      { at, type: 'reminded', gate: 'approval', who: 'purchasing' },
      { at, type: 'escalated', gate: 'approval', who: 'finance' },
      { at, type: 'decided', ...gate, decision: 'approve', note: 'fine' },
      { at, type: 'decision-conflict', ...gate, decision: 'reject', conflict: 'second' },
      { at, type: 'cancel-requested', by: 'Ann', reason: 'twice' },
      { at, type: 'cancel-too-late', by: 'Ann', reason: 'twice' },
      { at, type: 'undo-done', step: 'charge' },
      { at, type: 'undo-failed', step: 'reserve', reason: '503' },
      { at, type: 'stuck', step: 'place', reason: 'budget' },
      { at, type: 'replayed', step: 'place', by: 'Bob', why: 'back' },
      { at, type: 'fixed', step: 'place', by: 'Bob', why: 'sku', before: '{}', after: '{}' },
      { at, type: 'discarded', step: 'place', by: 'Bob', why: 'old' },
      { at, type: 'ended', outcome: 'discarded', reason: 'old' },
    ],
    7,
  );
  assert.equal(lines[0], '  (7 earlier entries are not kept)');
  const told = lines.slice(1).map((line) => line.slice(line.lastIndexOf('  ') + 2));
  assert.equal(new Set(told).size, 16);
  assert.ok(told.includes('Ann answered approval (version 2): approve, fine'));
  assert.ok(told.includes('answer not taken, second: Ann to approval (version 2): reject'));
});

test('a table has its columns under each other and no escape in a cell', () => {
  const lines = tableLines(
    ['ORDER', 'STEP'],
    [
      ['a-long-reference', 'x\ny'],
      ['b', '買い物'],
    ],
  );
  assert.equal(lines.length, 3);
  assert.match(lines[1] ?? '', /^a-long-reference {2}x\\u\{a\}y$/);
  assert.equal(lines[0]?.indexOf('STEP'), lines[2]?.indexOf('買'));
});
