import type { Pipeline, Position } from '../../core/contract.ts';
import { businessKey, type OrderId } from '../../core/identity.ts';
import { orderIdOf } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import type { PartnersControl } from '../../partners/control.ts';
import { openBench as openQueueBench } from '../queue/support/bench.ts';
import { openBench as openTemporalBench } from '../support/order-bench.ts';
import { anOrder } from '../support/orders.ts';
import { q2t, q2tInside, type Ended } from './q2t.ts';

/** The implementations that answer everything: the same cases hold for both. */
export const SIDES = ['temporal', 'queue'] as const;
export type SideName = (typeof SIDES)[number];

/** One implementation with its own partners and workers, and the command line pointed at it. */
export interface Side {
  name: SideName;
  /** What the binary finds its servers by. */
  env: Record<string, string>;
  pipeline: Pipeline;
  partners: PartnersControl;
  /** In this process. */
  run(args: readonly string[], input?: string): Promise<Ended>;
  /** The binary. */
  runBinary(args: readonly string[], input?: string): Promise<Ended>;
  position(id: OrderId): Promise<Position>;
  until(id: OrderId, wanted: (position: Position) => boolean): Promise<Position>;
  close(): Promise<void>;
}

export async function openSide(name: SideName, { worker = true } = {}): Promise<Side> {
  const { bench, env } = await openBench(name, worker);
  // The default is left out, as people do.
  const on = name === 'temporal' ? [] : ['--on', name];
  return {
    name,
    env,
    pipeline: bench.pipeline,
    partners: bench.partners,
    run: (args, input = '') => q2tInside([...args, ...on], { env, input }),
    runBinary: (args, input = '') => q2t([...args, ...on], { env, input }),
    position: (id) => bench.position(id),
    until: (id, wanted) => bench.until(id, wanted),
    close: () => bench.close(),
  };
}

async function openBench(name: SideName, worker: boolean) {
  if (name === 'queue') {
    const bench = await openQueueBench({ workers: worker ? 1 : 0 });
    return { bench, env: { DATABASE_URL: bench.databaseUrl } };
  }
  const bench = await openTemporalBench({ worker });
  return { bench, env: { TEMPORAL_ADDRESS: bench.address, Q2T_TASK_QUEUE: bench.taskQueue } };
}

export const keyOf = (order: Order) => businessKey(orderIdOf(order));

/** Above the limit, so that it waits for somebody. */
export const large = (fields: Partial<Order> = {}) => anOrder({ unitPrice: '5000' }, fields);

/** Submits it and resolves when it waits for a person. */
export async function waiting(side: Side, order: Order): Promise<void> {
  await side.pipeline.submit(order);
  await side.until(orderIdOf(order), ({ waitingFor }) => waitingFor?.kind === 'person');
}

/** The outcome of a run, when it has one. */
export async function outcomeOf(side: Side, order: Order): Promise<string | undefined> {
  return (await side.until(orderIdOf(order), ({ status }) => status === 'ended')).outcome;
}
