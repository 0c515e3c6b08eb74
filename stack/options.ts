import type { ConnectionOptions } from '@temporalio/client';
import type { WorkerKind } from './parts.ts';
import type { Death } from './process.ts';

export const PARTS = ['postgres', 'temporal', 'partners', 'workers'] as const;
export type Part = (typeof PARTS)[number];

/** A Temporal server that is used and not started. */
export interface ExternalTemporal {
  address: string;
  namespace: string;
  /** Default: the address alone. */
  options?: ConnectionOptions;
  /** What a worker needs in its environment to reach it. Default: address and namespace. */
  workerEnv?: NodeJS.ProcessEnv;
}

export interface StackOptions {
  /** Which parts to have. Default: all. Workers need the other three, embedded or external. */
  parts?: readonly Part[];
  /** Default: a temporary folder, deleted by `stop`. A given one keeps everything. */
  dataDir?: string;
  /** Somebody's own servers, used instead of embedded ones, whatever `parts` says. */
  external?: { temporal?: ExternalTemporal; databaseUrl?: string; partnersUrl?: string };
  /** Default: free ones. */
  ports?: { postgres?: number; temporal?: number; temporalUi?: number; partners?: number };
  /** How many workers, of each kind or by kind. Default 1. */
  workers?: number | Partial<Record<WorkerKind, number>>;
  /** More environment for every worker: `Q2T_BUNDLE`, `Q2T_STICKY_TIMEOUT_MS`. */
  workerEnv?: NodeJS.ProcessEnv;
  /** Default `orders`. */
  taskQueue?: string;
  /** Start parts again that die. Default false: a test wants to see them dead. */
  restart?: boolean;
  /** Told of every process that ended unasked, with the end of its log. */
  onDeath?: (death: Death) => void;
  /** Told what is being started. */
  onProgress?: (line: string) => void;
}
