/** What an empty job carries: a number, to know which one it was. */
export interface Job {
  n: number;
}

/** How a cell of the table runs: `batch` 1 is one job per call, everywhere. */
export interface Mode {
  workers: number;
  batch: number;
}

/** A queue on Postgres that the bench can drive, with the settings its own documentation recommends. */
export interface Contender {
  readonly name: string;
  /** Installs its schema into an empty database. */
  install(url: string): Promise<void>;
  open(url: string, mode: Mode): Promise<OpenContender>;
  /** The tables whose dead rows count. */
  readonly hotTables: string[];
}

export interface OpenContender {
  send(jobs: Job[]): Promise<void>;
  /**
   * Starts the workers; `onStart` is called as each job starts, and the job is completed when it
   * returns. They run flat out in `drain`, and wait to be woken in `wake`, as each system does best.
   */
  work(style: 'drain' | 'wake', onStart: (job: Job) => void): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

/** Connections for `workers`, with room for those that a system keeps for itself. */
export function connectionsFor({ workers }: Mode): number {
  return Math.max(workers, 2) + 2;
}
