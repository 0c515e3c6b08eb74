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
  'agent',
  'agent ask',
  'agent where',
  'agent answer',
  'agent transcript',
  'agent cancel',
  'agent list',
  'agent dead-letters',
  'agent dead-letters list',
  'agent dead-letters show',
  'agent dead-letters replay',
  'agent dead-letters discard',
  'agent collect',
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
  ['a request without words', ['agent', 'ask'], /missing required argument 'request'/],
  ['an empty request', ['agent', 'ask', ' '], /^ {2}<request>: /m],
  ['a budget that is none', ['agent', 'ask', 'x', '--budget-eur', 'much'], /amount in euro/],
  ['a turn too few', ['agent', 'ask', 'x', '--max-turns', '0'], /whole number from 1 to 1000/],
  ['a currency that is none', ['agent', 'ask', 'x', '--currency', 'FLO'], /^ {2}--currency: /m],
  ['a reference with an escape', ['agent', 'ask', 'x', '--ref', 'a\u001bb'], /^ {2}--ref: /m],
  ['a buyer without an address', ['agent', 'ask', 'x', '--buyer', 'acme'], /--email is missing/],
  ['no answer at all', ['agent', 'answer', 'REQ-1', '--by', 'Ann'], /Give one answer/],
  [
    'two answers',
    ['agent', 'answer', 'REQ-1', 'blue', '--approve', '--by', 'Ann'],
    /Give one answer/,
  ],
  [
    'a note to words',
    ['agent', 'answer', 'REQ-1', 'blue', '--note', 'x', '--by', 'Ann'],
    /--note goes with/,
  ],
  ['an answer of nobody', ['agent', 'answer', 'REQ-1', 'blue'], /--by <name>' not specified/],
];

const settings: [string, Record<string, string>, RegExp][] = [
  ['a model nowhere', { AGENT_MODEL: 'qwen3' }, /OPENAI_BASE_URL says where qwen3 is/],
  ['a place without a model', { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, /AGENT_MODEL names/],
  [
    'a price that is none',
    { AGENT_PRICE_EUR_PER_MILLION_TOKENS: 'cheap' },
    /AGENT_PRICE_EUR_PER_MILLION_TOKENS euro per million/,
  ],
];

for (const [what, env, told] of settings) {
  test(`${what} ends with 2 before anything is asked`, async () => {
    const { exitCode, stderr } = await q2tInside(['agent', 'ask', '3 chairs'], { env });
    assert.equal(exitCode, 2);
    assert.match(stderr, told);
  });
}

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
