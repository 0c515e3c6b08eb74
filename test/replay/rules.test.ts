import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite, test } from 'node:test';
import { IMPLEMENTATIONS } from '../../core/contract.ts';
import { pageOfRules, RULES_PAGE } from '../../lab/scenarios/no-rules/page.ts';
import { judge } from '../../lab/scenarios/no-rules/seen.ts';
import { tableOf } from '../../lab/scenarios/no-rules/try.ts';
import { differenceOf } from '../../replay/rules/asked.ts';
import { editedTexts } from '../../replay/changes/change.ts';
import { diffOf } from '../../replay/rules/diff.ts';
import { judgeStep, judgeWorkflow, type WorkflowFacts } from '../../replay/rules/judge.ts';
import { labelOf } from '../../replay/rules/rule.ts';
import { rules } from '../../replay/rules/rules.ts';

suite('the rules', () => {
  test('are on their page as the table has them', async () => {
    assert.equal(await readFile(RULES_PAGE, 'utf8'), await pageOfRules(), 'run `npm run rules`');
  });

  test('still meet their places in the source', async () => {
    for (const { name, temporal, queue, chain } of rules) {
      const sides = [temporal.edits, temporal.activities, queue.edits, chain?.edits];
      for (const edits of sides) if (edits) await editedTexts(name, edits);
    }
  });

  test('have names that make good labels', () => {
    const labels = rules.map(labelOf);
    assert.deepEqual(labels, [...new Set(labels)]);
    for (const label of labels) assert.match(label, /^[a-z][a-zA-Z0-9]+$/);
  });

  test('fail the scenario when one of them comes out otherwise', () => {
    for (const implementation of IMPLEMENTATIONS) {
      const table = tableOf(implementation);
      const seen = new Map(
        [...table].map(([name, { outcome, says, past }]) => [
          name,
          { outcome, says, ...(past && { past }) },
        ]),
      );
      assert.equal(judge(table, seen).verdict, 'held');
      const [name = ''] = table.keys();
      const broken = judge(table, new Map([...seen, [name, { outcome: 'stalls', says: '?' }]]));
      assert.ok(broken.verdict === 'broke' && broken.how.startsWith(`${name}: the table says`));
      assert.equal(judge(table, new Map([...seen].slice(1))).verdict, 'broke');
    }
  });
});

suite('an edit of a workflow', () => {
  const at20 = {
    at: 'event 20 of plain the history schedules activity "a"',
    code: 'asks for b',
  };
  const thrown = (message: string) => ({
    code: `throws: ${message} (workflows/steps.ts:1)`,
  });
  const cases: [string, Omit<WorkflowFacts, 'prepared'>, string, string][] = [
    ['that nothing notices', { fresh: {}, replays: {} }, 'free', ''],
    [
      'that runs in flight do not follow',
      { fresh: {}, replays: { inFlight: at20 } },
      'patch needed',
      'at event 20 of plain the history schedules activity "a"; the code asks for b',
    ],
    [
      'that new runs do not survive either',
      { fresh: { error: 'no' }, replays: { inFlight: at20 } },
      'stalls',
      'a new run: no',
    ],
    [
      'with a wrong effect',
      { fresh: { wrong: 'charged twice' }, replays: {} },
      'stalls',
      'a new run: charged twice',
    ],
    [
      'that cannot repeat its own run',
      { fresh: {}, replays: { fresh: at20 } },
      'stalls',
      'a new run: at event 20 of plain the history schedules activity "a"; the code asks for b',
    ],
    [
      'that asks for the same in another way',
      { fresh: {}, replays: { differs: 'activity "a" has another input' } },
      'passes replay, but',
      'activity "a" has another input',
    ],
    [
      'that reaches for what the sandbox has not',
      {
        fresh: { error: 'fetch is not defined' },
        replays: { inFlight: thrown('fetch is not defined') },
      },
      'refused by the sandbox',
      'throws: fetch is not defined',
    ],
    [
      'that throws',
      { fresh: { error: 'no' }, replays: { inFlight: thrown('not like this') } },
      'stalls',
      'throws: not like this',
    ],
  ];
  for (const [what, facts, outcome, says] of cases) {
    test(`${what}: ${outcome}`, () => {
      assert.deepEqual(judgeWorkflow({ prepared: { lint: [] }, ...facts }), { outcome, says });
    });
  }

  test('that lint refuses says so, and what happens past it', () => {
    const prepared = {
      lint: ['a/rule: Not here. The table is elsewhere.'],
      bundler: 'ERROR\nUnhandledSchemeError: Reading from "node:fs" is not handled. You may\n at x',
    };
    assert.deepEqual(judgeWorkflow({ prepared }), {
      outcome: 'refused by lint',
      says: 'a/rule: Not here.',
      past: {
        outcome: 'refused by the bundler',
        says: 'Reading from "node:fs" is not handled.',
      },
    });
  });
});

test('an edit of a step is free, needs a version, or breaks new runs too', () => {
  const step = (inFlight?: string, fresh?: string) =>
    judgeStep({ prepared: { lint: [] }, inFlight, fresh });
  assert.deepEqual(step(), { outcome: 'free', says: '' });
  assert.deepEqual(step('never screened'), { outcome: 'version needed', says: 'never screened' });
  assert.deepEqual(step('x', 'charged twice'), { outcome: 'breaks', says: 'charged twice' });
});

suite('two runs', () => {
  const data = (value: unknown) => Buffer.from(JSON.stringify(value));
  const run = (
    orderRef: string,
    ...asked: { name: string; amount: number; seconds?: number }[]
  ) => ({
    orderRef,
    history: {
      events: asked.map(({ name, amount, seconds = 60 }) => ({
        activityTaskScheduledEventAttributes: {
          activityType: { name },
          input: { payloads: [{ data: data({ orderRef, amount }) }] },
          startToCloseTimeout: { seconds: seconds as never },
        },
      })),
    },
  });
  const plain = run('PO-1', { name: 'credit', amount: 5 });

  test('that differ in the name of their order ask for the same', () => {
    assert.equal(differenceOf(run('PO-2', { name: 'credit', amount: 5 }), plain), undefined);
  });
  test('differ in what is asked with, or for how long', () => {
    const more = run('PO-2', { name: 'credit', amount: 6 });
    assert.equal(differenceOf(more, plain), 'activity "credit" has another input');
    const longer = run('PO-2', { name: 'credit', amount: 5, seconds: 61 });
    assert.equal(differenceOf(longer, plain), 'activity "credit" has another time limit');
  });
  test('that ask for something else are left to replay', () => {
    assert.equal(differenceOf(run('PO-2', { name: 'screen', amount: 5 }), plain), undefined);
  });
});

test('a diff shows the lines that differ, under their file', () => {
  const edits = [
    { file: 'a.ts', from: 'one\ntwo\nthree\n', to: 'one\n2\nthree\n' },
    { file: 'a.ts', from: 'four\n', to: 'four\nfive\n' },
    { file: 'b.ts', from: 'six\n', to: '' },
  ];
  assert.equal(diffOf(edits), '@@ a.ts @@\n-two\n+2\n+five\n@@ b.ts @@\n-six');
});
