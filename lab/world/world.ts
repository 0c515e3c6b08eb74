import type { Implementation, Pipeline } from '../../core/contract.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Policy } from '../../core/policy.ts';
import type { PartnersControl } from '../../partners/control.ts';
import type { Guard } from '../guards/guard.ts';
import type { Boundary } from '../wire/boundary.ts';
import type { Fault } from '../wire/fault.ts';
import type { TemporalProxy } from '../wire/temporal/proxy.ts';
import type { Wire } from '../wire/wire.ts';
import type { WorldAgents } from './agents.ts';

export interface WorldOptions {
  /** More environment for the workers. */
  workerEnv?: NodeJS.ProcessEnv;
  /** Puts a proxy between the workers and their server: `world.wire`. */
  wired?: boolean;
  /** The workers' code, or the database, lacks it. */
  without?: Guard;
  /** Changes of the lab's policy for every order of this world. */
  policy?: Partial<Policy>;
}

/** What the proxies before Postgres and before Temporal have in common. */
export type WorldWire = Wire<Boundary, Fault<Boundary>>;

/** A worker process of the product, as the operating system sees it. */
export interface WorkerHandle {
  readonly pid: number;
  /** What the wire calls it. */
  readonly client: string;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: a zombie that wakes later. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** SIGTERM, and SIGKILL after a limit. */
  stop(): Promise<void>;
}

/**
 * One implementation, alone with its own database or namespace, its own partners and its own workers,
 * so that scenarios run side by side. Everything a scenario learns comes from here: the contract's
 * answers, the partners' counts, message counts, time.
 */
export interface World {
  readonly implementation: Implementation;
  /** Unique to this world: its task queue and the buyer of its orders. */
  readonly name: string;
  readonly pipeline: Pipeline;
  readonly partners: PartnersControl;
  /** The shared policy with technical waits shortened; business waits as they are. */
  readonly policy: Policy;
  /** For controls that change the database, and for the transport's own counts. */
  readonly databaseUrl: string;
  readonly partnersUrl: string;
  /** The claim-check store of the workers. */
  readonly storeDir: string;
  /** For a worker of a scenario's own: what makes it lack the guard that this world lacks. */
  readonly guardEnv: NodeJS.ProcessEnv;
  /** Where a client of Temporal finds the server that all worlds share. */
  readonly temporal: { address: string; namespace: string };
  /**
   * Between the workers and their server. A worker is known there by its `client` name; boundaries by
   * the run: business key in Postgres, workflow id at Temporal. Throws unless the world was opened `wired`.
   */
  readonly wire: WorldWire;
  /** The same wire where only Temporal has such faults: a call lost alone. Throws on the others. */
  readonly temporalWire: TemporalProxy;
  /** Makes the wire name the boundaries of this order's run, and returns that name. */
  watch(id: OrderId): string;
  /** `env` wins over what the world gives its workers. */
  startWorker(env?: NodeJS.ProcessEnv): Promise<WorkerHandle>;
  /** A bundle of the workflows as `entry` has them, for `Q2T_BUNDLE`: another deploy of them. */
  bundleOf(entry: string): Promise<string>;
  /** The queue in front: accepts orders over HTTP at `url` and hands them on to this implementation. */
  startIngest(): Promise<WorkerHandle & { url: string }>;
  /** A valid order of this world: one line unless told otherwise. */
  order(orderRef: string, changes?: Partial<Order>): Order;
  /** The buying agents. Connected to at the first call. */
  agents(): Promise<WorldAgents>;
  /** Moves one run's clock, and nobody else's: timers and deadlines come due as if `ms` had passed. */
  forward(id: OrderId, ms: number): Promise<void>;
  close(): Promise<void>;
}
