import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runJobs, type RunOptions } from '../../../lab/running/run.ts';
import { asExpected, controlJobs, scenarioJobs } from '../../../lab/running/job.ts';
import type { Outcome, Scenario, Stage } from '../../../lab/scenario.ts';
import { Ground } from '../../../lab/world/ground.ts';

// None of these opens a world, so the ground is never laid.
const ground = new Ground();
const held: Outcome = { verdict: 'held', counted: {} };

function scenario(run: (stage: Stage) => Promise<Outcome>, changes: Partial<Scenario> = {}) {
  const expected = { verdict: 'held' } as const;
  return {
    name: 'some',
    claim: '',
    about: '',
    fault: '',
    counts: '',
    code: { chain: [], queue: [], temporal: [] },
    expected: { chain: expected, queue: expected, temporal: expected },
    run,
    ...changes,
  } satisfies Scenario;
}

function run(scenarios: Scenario[], options: Partial<RunOptions> = {}) {
  const signal = new AbortController().signal;
  return runJobs(ground, scenarioJobs(scenarios, ['queue']), {
    size: 'small',
    seed: 1,
    atOnce: 2,
    signal,
    ...options,
  });
}

test('another outcome than the expected one is noticed, a word of it included', async () => {
  const broke: Outcome = { verdict: 'broke', how: 'placed twice', counted: {} };
  const [result] = await run([scenario(() => Promise.resolve(broke))]);
  assert.ok(result && !asExpected(result));
  const expected = { verdict: 'broke', how: 'placed 3 times' } as const;
  assert.ok(!asExpected({ expected, outcome: broke }));
  assert.ok(asExpected({ expected: { ...expected, how: 'placed twice' }, outcome: broke }));
});

test('what is thrown is an error and no outcome', async () => {
  const [result] = await run([scenario(() => Promise.reject(new Error('no such order')))]);
  assert.equal(result?.error, 'no such order');
  assert.equal(result.outcome, undefined);
});

test('one that does not end is ended at its limit, and told so', async () => {
  let told: AbortSignal | undefined;
  const endless = scenario(
    ({ signal }) => {
      told = signal;
      return new Promise(() => undefined);
    },
    { limitMs: { small: 50 } },
  );
  const [result] = await run([endless]);
  assert.equal(result?.error, 'not through within 0.05 s');
  assert.equal(told?.aborted, true);
});

test('everything is cleaned up, last one first, also after a failure', async () => {
  const done: string[] = [];
  const untidy = scenario(({ cleanUp }) => {
    cleanUp(() => Promise.resolve(done.push('first')));
    cleanUp(() => Promise.reject(new Error('could not close')));
    cleanUp(() => Promise.resolve(done.push('last')));
    return Promise.resolve(held);
  });
  const [result] = await run([untidy]);
  assert.deepEqual(done, ['last', 'first']);
  assert.equal(result?.error, 'could not close');
});

test('a lab that is stopped starts nothing more', async () => {
  const stopped = new AbortController();
  const stops = scenario(() => {
    stopped.abort(new Error('the lab was stopped'));
    return new Promise<Outcome>(() => undefined);
  });
  let started = false;
  const next = scenario(() => {
    started = true;
    return Promise.resolve(held);
  });
  await assert.rejects(
    run([stops, next], { atOnce: 1, signal: stopped.signal }),
    /the lab was stopped/,
  );
  assert.equal(started, false);
});

test('a control without its own run is the scenario with the guard missing', async () => {
  const guarded = scenario(() => Promise.resolve(held), {
    controls: [{ on: 'queue', without: { name: 'the lease' }, breaks: 'placed twice' }],
  });
  const signal = new AbortController().signal;
  const [result] = await runJobs(ground, controlJobs([guarded]), {
    size: 'small',
    seed: 1,
    atOnce: 1,
    signal,
  });
  assert.equal(result?.without, 'the lease');
  // It held without its guard: that scenario proves nothing, and is noticed.
  assert.ok(!asExpected(result));
});
