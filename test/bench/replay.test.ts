import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportReplay } from '../../bench/replay/report.ts';
import { runReplayBench } from '../../bench/replay/run.ts';

test('the bench of replay measures histories, cold workers and caches, and reports what it measured', async () => {
  const plan = { lines: 20, runs: 20, events: 100, rounds: 1 };
  const { cache, cold, speed, ...rest } = await runReplayBench(plan, () => undefined);
  assert.deepEqual(
    speed.map(({ name }) => name),
    ['1 line', '240 lines', '20 lines in one run, up to its approval'],
  );
  assert.equal(cold.length, 2);
  // More lines, more events.
  assert.ok((cold[1]?.events ?? 0) > (cold[0]?.events ?? 0));
  const asked = cache.map((cell) => cell.asked);
  assert.deepEqual(asked, [0, 10, undefined]);
  assert.ok((cache[2]?.size ?? 0) >= plan.runs, 'the default holds all of them');
  for (const { size, tasksPerSecond, cpuMsPerTask, memoryMb } of cache) {
    for (const value of [tasksPerSecond, cpuMsPerTask, memoryMb]) {
      assert.ok(Number.isFinite(value) && value > 0, `cache of ${size}: ${value}`);
    }
  }
  assert.doesNotMatch(reportReplay({ cache, cold, speed, ...rest }), /NaN|undefined/);
});
