import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quickPlan } from '../../../bench/transport/plan.ts';
import { reportTransport } from '../../../bench/transport/report.ts';
import { CONTENDERS, runTransportBench } from '../../../bench/transport/run.ts';

test('the bench measures every contender in every mode and reports what it measured', async () => {
  const mode = { workers: 2, batch: 5 };
  const plan = {
    ...quickPlan,
    modes: [mode, { workers: 2, batch: 1 }],
    oldSnapshotModes: [mode],
    unbatchedJobs: 20,
    batchedJobs: 50,
    wakeJobs: 5,
    notifyProducers: 4,
    notifySends: 40,
  };
  const announced: string[] = [];
  const result = await runTransportBench(plan, (text) => announced.push(text));
  assert.equal(result.cells.length, CONTENDERS.length * 3);
  assert.equal(announced.length, result.cells.length + 1);
  for (const cell of result.cells) {
    const { jobsPerSecond, commitsPerJob, walBytesPerJob, startP50Ms, startP99Ms } = cell;
    for (const value of [jobsPerSecond, commitsPerJob, walBytesPerJob, startP50Ms, startP99Ms]) {
      assert.ok(Number.isFinite(value) && value > 0, JSON.stringify(cell));
    }
    assert.ok(startP99Ms >= startP50Ms);
  }
  // Two transactions at least go with a job that is sent and completed alone; batches share theirs.
  const ours = result.cells.filter((cell) => cell.contender === 'ours' && !cell.oldSnapshot);
  assert.ok(ours.every((cell) => (cell.mode.batch === 1 ? cell.commitsPerJob >= 2 : true)));
  assert.ok(ours.every((cell) => (cell.mode.batch > 1 ? cell.commitsPerJob < 2 : true)));
  assert.equal(result.machine.settings['synchronous_commit'], 'on');

  const report = reportTransport(result);
  for (const { name } of CONTENDERS) assert.ok(report.includes(`| ${name} |`));
  assert.match(report, /synchronous_commit on/);
  assert.doesNotMatch(report, /NaN|undefined/);
});
