import type { Implementation, Pipeline } from '../../core/contract.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Policy } from '../../core/policy.ts';
import type { PartnersControl } from '../../partners/control.ts';

/** A worker process of the product, as the operating system sees it. */
export interface WorkerHandle {
  readonly pid: number;
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
  /** `env` wins over what the world gives its workers. */
  startWorker(env?: NodeJS.ProcessEnv): Promise<WorkerHandle>;
  /** A valid order of this world: one line unless told otherwise. */
  order(orderRef: string, changes?: Partial<Order>): Order;
  /** Moves one run's clock, and nobody else's: timers and deadlines come due as if `ms` had passed. */
  forward(id: OrderId, ms: number): Promise<void>;
  close(): Promise<void>;
}
