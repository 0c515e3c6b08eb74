import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellOf } from '../../../lab/report/cell.ts';
import { disagreements, pageOf } from '../../../lab/report/document.ts';
import { plotAsSvg, plotInText } from '../../../lab/report/plot.ts';
import { ladderOf, tableOf } from '../../../lab/report/table.ts';
import type { Result } from '../../../lab/running/job.ts';
import type { Outcome, Scenario } from '../../../lab/scenario.ts';

const held: Outcome = { verdict: 'held', counted: { placed: 1 }, measured: { recovery: '1.3 s' } };
const broke: Outcome = { verdict: 'broke', how: 'placed twice', counted: { placed: 2 } };

function result(outcome: Outcome, changes: Partial<Result> = {}): Result {
  const expected: Result['expected'] = { verdict: 'held' };
  return { scenario: 'some', implementation: 'queue', expected, outcome, tookMs: 1, ...changes };
}

const scenario: Scenario = {
  name: 'some',
  claim: 'something holds',
  about: 'the readings',
  fault: 'a kill',
  counts: 'orders',
  code: { chain: [], queue: [], temporal: [] },
  expected: {
    chain: { verdict: 'broke', how: 'placed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: () => Promise.resolve(held),
};

test('a cell has the verdict, its figures, and what was expected instead when it is wrong', () => {
  assert.deepEqual(cellOf(result(held)), {
    verdict: 'held',
    figures: 'placed 1; recovery 1.3 s',
  });
  assert.equal(cellOf(result(broke)).wrong, 'expected held');
  assert.equal(cellOf(result(broke)).verdict, 'broke (placed twice)');
  const expected = { verdict: 'broke', how: 'charged twice' } as const;
  assert.equal(cellOf(result(broke, { expected })).wrong, 'expected broke (charged twice)');
});

test('the table marks what is wrong, and the ladder names the missing guard', () => {
  assert.match(tableOf([scenario], ['queue'], [result(broke)]), /WRONG: broke \(placed twice\)/);
  assert.doesNotMatch(tableOf([scenario], ['queue'], [result(held)]), /WRONG/);
  const rung = result(broke, {
    without: 'the ledger',
    expected: { verdict: 'broke', how: 'placed twice' },
  });
  assert.match(ladderOf([rung]), /the ledger.*queue.*some.*broke \(placed twice\)/);
});

test('two runs agree when verdicts and counts do, whatever was measured', () => {
  const later: Outcome = { ...held, measured: { recovery: '9.9 s' } };
  assert.deepEqual(disagreements([result(held)], [result(later)]), []);
  const two = { verdict: 'held', counted: { placed: 1, charged: 2 } } as const;
  const turned = { verdict: 'held', counted: { charged: 2, placed: 1 } } as const;
  assert.deepEqual(disagreements([result(two)], [result(turned)]), []);
  const other: Outcome = { verdict: 'held', counted: { placed: 3 } };
  assert.deepEqual(disagreements([result(held)], [result(other)]), [
    'some/queue: says held; placed 1, is held; placed 3',
  ]);
  assert.deepEqual(disagreements([], [result(held)]), ['some/queue is missing']);
});

test('the page has a row for each scenario and one for each missing guard', () => {
  const rung = result(broke, { without: 'the ledger' });
  const page = pageOf([scenario], {
    seed: 1,
    machine: 'a machine',
    results: [result(held), rung],
  });
  assert.match(page, /\| \*\*some\*\*: something holds \| {2}\| \*\*held\*\*<br>placed 1/);
  assert.match(page, /\| the ledger \| queue \| some \| \*\*broke \(placed twice\)\*\*/);
});

test('a plot is drawn for a terminal and as SVG, with its text escaped', () => {
  const points = [
    [0, 0],
    [1.5, 10],
    [3, 0],
  ] as const;
  const plot = { title: 'Waiting <now>', unit: 'orders', points };
  assert.match(plotInText(plot), /Waiting <now>/);
  const svg = plotAsSvg(plot);
  assert.match(svg, /polyline points="48\.0,192\.0 360\.0,48\.0 672\.0,192\.0"/);
  assert.doesNotMatch(svg, /<now>/);
});
