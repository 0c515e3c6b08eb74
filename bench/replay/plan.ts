export interface ReplayPlan {
  /** Lines of the long run, four events each and a share of the workflow tasks. */
  lines: number;
  /** Open runs that a worker may keep in its cache. */
  runs: number;
  /** Events to replay in one measurement of speed, at least. */
  events: number;
  /** How often each measurement has its turn. */
  rounds: number;
}

/** An order can't have more lines; they make just under 10,000 events. */
export const fullReplayPlan: ReplayPlan = { lines: 2_500, runs: 100, events: 10_000, rounds: 3 };

/** One history, replayed again and again by one replay worker. */
export interface SpeedCell {
  name: string;
  events: number;
  replays: number;
  msPerReplay: number;
  eventsPerSecond: number;
}

/** A worker that has never seen the run. */
export interface ColdCell {
  run: 'short' | 'long';
  events: number;
  /** Until it has taken an answer to the run: the history fetched and replayed. */
  coldMs: number;
  /** The same answer again. */
  warmMs: number;
}

/** A worker with a cache for so many runs, and more or fewer of them open. */
export interface CacheCell {
  /** As asked for; undefined: the SDK's own, from the heap. */
  asked: number | undefined;
  /** What it came to. */
  size: number;
  /** Answers to open runs in turn, each one workflow task. */
  tasksPerSecond: number;
  /** Of the worker's process. */
  cpuMsPerTask: number;
  memoryMb: number;
}
