import { setTimeout as sleep } from 'node:timers/promises';
import { checkGuard } from '../guards/guard.ts';
import type { Outcome, Size } from '../scenario.ts';
import type { Ground } from '../world/ground.ts';
import { expectedOf, limitOf, type Job, type Result } from './job.ts';
import { openStage } from './stage.ts';

export interface RunOptions {
  size: Size;
  seed: number;
  /** How many jobs at once. Most of a job is waiting. */
  atOnce: number;
  signal: AbortSignal;
  onStart?: (job: Job) => void;
  onEnd?: (job: Job, result: Result) => void;
  /** What the scenarios say. Default: nobody listens. */
  say?: (job: Job, text: string) => Promise<void>;
}

/** Runs all jobs, `atOnce` of them side by side. Results are in the order of the jobs. */
export async function runJobs(
  ground: Ground,
  jobs: readonly Job[],
  options: RunOptions,
): Promise<Result[]> {
  const results = new Map<Job, Result>();
  const waiting = [...jobs];
  const hand = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      options.signal.throwIfAborted();
      options.onStart?.(job);
      const result = await runJob(ground, job, options);
      results.set(job, result);
      options.onEnd?.(job, result);
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, hand));
  return jobs.flatMap((job) => results.get(job) ?? []);
}

async function runJob(ground: Ground, job: Job, options: RunOptions): Promise<Result> {
  const { size, seed, say } = options;
  const began = performance.now();
  const limit = new AbortController();
  const signal = AbortSignal.any([options.signal, limit.signal]);
  const { stage, clear } = openStage(ground, job, {
    size,
    seed,
    signal,
    say: (text) => say?.(job, text) ?? Promise.resolve(),
  });
  const result: Result = {
    scenario: job.scenario.name,
    implementation: job.implementation,
    ...(job.control && { without: job.control.without.name }),
    expected: expectedOf(job),
    tookMs: 0,
  };
  try {
    if (job.control) await checkGuard(job.control.without);
    const act = job.control?.run ?? job.scenario.run;
    result.outcome = await within(act(stage), limitOf(job, size), limit, options.signal);
  } catch (error) {
    result.error = inWords(error);
  }
  try {
    await clear();
  } catch (error) {
    result.error ??= inWords(error);
  }
  return { ...result, tookMs: Math.round(performance.now() - began) };
}

/** The outcome, unless the time is up or the lab is stopped; the scenario then loses its worlds under its feet. */
async function within(
  run: Promise<Outcome>,
  limitMs: number,
  limit: AbortController,
  stopped: AbortSignal,
): Promise<Outcome> {
  run.catch(() => undefined);
  const over = new AbortController();
  const timeIsUp = sleep(limitMs, undefined, {
    signal: AbortSignal.any([over.signal, stopped]),
  }).then(() => {
    const error = new Error(`not through within ${limitMs / 1_000} s`);
    limit.abort(error);
    throw error;
  });
  timeIsUp.catch(() => undefined);
  try {
    return await Promise.race([run, timeIsUp]);
  } finally {
    over.abort();
  }
}

function inWords(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(inWords).join('; ');
  if (!(error instanceof Error)) return String(error);
  // Of a library's error the cause says what happened, of ours the message does.
  return error.cause instanceof Error
    ? `${error.message} (${inWords(error.cause)})`
    : error.message;
}
