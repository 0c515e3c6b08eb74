export interface ReplayPlan {
  /** Lines of the long run, four events each and a share of the workflow tasks. */
  lines: number;
  /** Open runs of one line for each size of a cache. */
  runs: number;
  /** Open runs of many lines, to see what they take in a cache, and how many lines. */
  largeRuns: number;
  largeLines: number;
  /** How full the caches are whose memory is read, as shares of the open runs. */
  shares: readonly number[];
  /** The settings of `reuseV8Context` to read it under. */
  contexts: readonly boolean[];
  /** Events to replay in one measurement of speed, at least. */
  events: number;
  /** How often each measurement has its turn. */
  rounds: number;
}

/** An order can't have more lines; they make just under 10,000 events. */
export const fullReplayPlan: ReplayPlan = {
  lines: 2_500,
  runs: 40,
  largeRuns: 6,
  largeLines: 240,
  shares: [1 / 3, 2 / 3, 1],
  contexts: [true, false],
  events: 10_000,
  rounds: 2,
};

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
  /** How many of the tasks found their run not in the cache. */
  replaysPerTask: number;
  /** How often the worker asked the server for a history that had not come with the task. */
  fetchesPerTask: number;
}

/** A worker that has so many runs in its cache, and nothing to do. */
export interface MemoryCell {
  lines: number;
  reuseV8Context: boolean;
  runs: number;
  /** In use on the heaps of its threads after a collection. */
  heapMb: number;
  /** Of the process, after that. */
  memoryMb: number;
}
