import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportReplay } from '../../bench/replay/report.ts';
import { runReplayBench } from '../../bench/replay/run.ts';

test('the bench of replay measures histories, cold workers and caches, and reports what it measured', async () => {
  const plan = {
    lines: 12,
    runs: 6,
    largeRuns: 2,
    largeLines: 12,
    shares: [1 / 2, 1],
    contexts: [true],
    events: 100,
    rounds: 1,
  };
  const { cache, cold, memory, speed, ...rest } = await runReplayBench(plan, () => undefined);
  assert.deepEqual(
    speed.map(({ name }) => name),
    ['1 line', '240 lines', '12 lines in one run, up to its approval'],
  );
  assert.equal(cold.length, 2);
  // More lines, more events.
  assert.ok((cold[1]?.events ?? 0) > (cold[0]?.events ?? 0));
  const asked = cache.map((cell) => cell.asked);
  assert.deepEqual(asked, [0, 3, undefined]);
  assert.ok((cache[2]?.size ?? 0) >= plan.runs, 'the default holds all of them');
  for (const { size, tasksPerSecond, cpuMsPerTask } of cache) {
    for (const value of [tasksPerSecond, cpuMsPerTask]) {
      assert.ok(Number.isFinite(value) && value > 0, `cache of ${size}: ${value}`);
    }
  }
  const [none, half, all] = cache.map(({ replaysPerTask }) => replaysPerTask);
  assert.ok(none === 1 && all === 0, `replays a task: ${none} and ${all}`);
  assert.ok((half ?? 0) > 0 && (half ?? 1) < 1, `replays a task with half a cache: ${half}`);
  assert.deepEqual(
    memory.map(({ runs }) => runs),
    [9, 18, 1, 2],
  );
  for (const { lines, heapMb, memoryMb } of memory) {
    assert.ok(heapMb > 0 && memoryMb > heapMb, `${lines} lines: ${heapMb} of ${memoryMb}`);
  }
  assert.doesNotMatch(reportReplay({ cache, cold, memory, speed, ...rest }), /NaN|undefined/);
});
