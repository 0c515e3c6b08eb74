import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { IMPLEMENTATIONS, type Implementation } from '../../core/contract.ts';
import { STEPS } from '../../core/steps.ts';
import { Ground } from '../../lab/world/ground.ts';
import { openWorld } from '../../lab/world/open.ts';
import type { World } from '../../lab/world/world.ts';
import { perOne, reading } from '../counters.ts';
import { describeMachine, type Machine } from '../machine.ts';

export interface OrdersPlan {
  /** Orders of one line in each cell. */
  orders: number;
  /** How often each implementation has its turn. */
  rounds: number;
}

/** One implementation's turn. */
export interface OrdersCell {
  implementation: Implementation;
  ordersPerSecond: number;
  /** In the database of the implementation, so that Temporal shows its invoices only: its server has a store of its own. */
  commitsPerOrder: number;
  commitsPerStep: number;
  walBytesPerOrder: number;
  /** Of the worker's process. */
  workerCpuMsPerOrder: number;
}

export interface OrdersResult {
  machine: Machine;
  plan: OrdersPlan;
  cells: OrdersCell[];
}

const LIMIT_MS = 600_000;

/** Whole orders through one worker process, the implementations taking turns. Linux only: reads /proc. */
export async function runOrdersBench(
  plan: OrdersPlan,
  announce: (text: string) => void,
): Promise<OrdersResult> {
  const ground = new Ground();
  try {
    announce('starting Postgres and Temporal');
    await ground.lay();
    const machine = await describeMachine(ground.stack.postgres.urlOf('postgres'));
    const cells: OrdersCell[] = [];
    for (let round = 1; round <= plan.rounds; round += 1) {
      for (const implementation of IMPLEMENTATIONS) {
        announce(`round ${round} of ${plan.rounds}: ${implementation}`);
        cells.push(await measure(await openWorld(ground, implementation), plan.orders));
      }
    }
    return { machine, plan, cells };
  } finally {
    await ground.stop();
  }
}

async function measure(world: World, orders: number): Promise<OrdersCell> {
  const observer = new pg.Client({ connectionString: world.databaseUrl });
  await observer.connect();
  try {
    // One visible for longer than any step takes: the chain has nothing that extends it.
    const worker = await world.startWorker({ Q2T_VISIBILITY_MS: '30000' });
    await submit(world, 'warm-up', 10);
    await untilMailed(world, 10);
    const before = await reading(observer, worker.pid);
    const began = performance.now();
    await submit(world, 'PO', orders);
    await untilMailed(world, 10 + orders);
    const seconds = (performance.now() - began) / 1_000;
    const used = perOne(before, await reading(observer, worker.pid), orders);
    return {
      implementation: world.implementation,
      ordersPerSecond: orders / seconds,
      commitsPerOrder: used.commits,
      commitsPerStep: used.commits / STEPS.length,
      walBytesPerOrder: used.walBytes,
      workerCpuMsPerOrder: used.cpuMs,
    };
  } finally {
    await observer.end();
    await world.close();
  }
}

/** Sixteen at a time: clients are many, and the bench is about the workers. */
async function submit(world: World, prefix: string, orders: number): Promise<void> {
  const numbers = Array.from({ length: orders }, (_, n) => n).values();
  const lane = async () => {
    for (const n of numbers)
      await world.pipeline.submit(world.order(`${prefix}-${n}`), world.policy);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

/** The mail is the last effect of an order; who does not mail in time is stuck. */
async function untilMailed(world: World, orders: number): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; ; await delay(20)) {
    const { mail } = await world.partners.counts();
    if (mail >= orders) return;
    if (Date.now() > deadline)
      throw new Error(`${world.implementation}: ${mail} of ${orders} orders ended`);
  }
}
