import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertGolden, q2t, q2tInside } from './q2t.ts';

const commands = [
  'submit',
  'where',
  'decide',
  'cancel',
  'list',
  'reset',
  'dead-letters',
  'dead-letters list',
  'dead-letters show',
  'dead-letters replay',
  'dead-letters discard',
  'dead-letters fix',
];

test('the help names every command and the exit codes', async () => {
  const ended = await q2t(['--help']);
  await assertGolden('help', ended);
  for (const command of commands) assert.ok(ended.stdout.includes(command.split(' ')[0] ?? ''));
});

test('every command has a help text, and those that people type have examples', async () => {
  for (const command of commands) {
    const { exitCode, stdout, stderr } = await q2tInside([...command.split(' '), '--help']);
    assert.equal(exitCode, 0, command);
    assert.equal(stderr, '', command);
    assert.match(stdout, new RegExp(`^Usage: q2t ${command} `), command);
    if (!command.includes(' ')) assert.match(stdout, /Examples:\n {2}\$ q2t /, command);
  }
});

test('the version is that of the package', async () => {
  const { exitCode, stdout } = await q2t(['--version']);
  assert.equal(exitCode, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+$/);
});

test('a flag that does not exist ends with 2 and the help of that command', async () => {
  await assertGolden('unknown-flag', await q2t(['where', 'PO-1', '--histroy']));
});

const wrong: [string, string[], RegExp][] = [
  ['no command', [], /Usage: q2t/],
  ['an unknown command', ['lst'], /Did you mean list\?/],
  ['no file', ['submit'], /missing required argument 'file'/],
  ['no name', ['decide', 'PO-1', 'approve'], /--by <name>' not specified/],
  ['an empty name', ['decide', 'PO-1', 'approve', '--by', ' '], /It is empty/],
  [
    'a name with an escape',
    ['decide', 'PO-1', 'approve', '--by', 'A\u001b[2J'],
    /control characters/,
  ],
  [
    'a reason without end',
    ['cancel', 'PO-1', '--by', 'A', '--reason', 'x'.repeat(501)],
    /500 are the limit/,
  ],
  ['a third decision', ['decide', 'PO-1', 'maybe', '--by', 'A'], /approve, reject/],
  [
    'a gate without its version',
    ['decide', 'PO-1', 'approve', '--by', 'A', '--gate', 'approval'],
    /belong together/,
  ],
  [
    'a gate version of zero',
    ['decide', 'PO-1', 'approve', '--by', 'A', '--gate-version', '0'],
    /whole number/,
  ],
  ['an unknown implementation', ['list', '--on', 'kafka'], /chain, queue, temporal/],
  ['an unknown status', ['list', '--status', 'lost'], /retrying/],
  ['an unknown step', ['list', '--step', 'pay'], /reserve/],
  ['a limit of minus one', ['list', '--limit=-1'], /whole number from 1 to 1000/],
  ['a limit that is no number', ['list', '--limit', '1e2'], /whole number/],
  ['a word too many', ['where', 'PO-1', 'PO-2'], /too many arguments/],
  [
    'a replay without why',
    ['dead-letters', 'replay', 'PO-1', '--by', 'A'],
    /--why <text>' not specified/,
  ],
];

for (const [what, args, told] of wrong) {
  test(`${what} ends with 2 and says what is wrong`, async () => {
    const { exitCode, stdout, stderr } = await q2tInside(args);
    assert.equal(exitCode, 2);
    assert.equal(stdout, '');
    assert.match(stderr, told);
    // What was typed may be somebody's escape sequence: it is shown, not acted on.
    assert.ok(!stderr.includes('\u001b'));
  });
}

test('with --json a wrong flag is a document too', async () => {
  const { exitCode, stdout } = await q2tInside(['list', '--json', '--limit', 'many']);
  assert.equal(exitCode, 2);
  const document = JSON.parse(stdout) as Record<string, unknown>;
  assert.equal(document['exitCode'], 2);
  assert.equal(document['command'], 'list');
  assert.match(JSON.stringify(document['error']), /whole number/);
});
