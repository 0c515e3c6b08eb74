import { orderIdOf, type OrderId } from '../../../core/identity.ts';
import { countsOnce, until, untilThrough } from '../../observe/until.ts';
import type { Counts } from '../../observe/effects.ts';
import type { Stage } from '../../scenario.ts';
import type { World, WorldOptions, WorldWire } from '../../world/world.ts';
import { openLeftovers } from './leftovers.ts';
import type { Place, SeenBoundary } from './places.ts';

/**
 * Orders that may take another way than the first before the place is looked for by its number alone:
 * on a machine that has no time for a heartbeat, attempts and event ids shift.
 */
const TRIES_BY_NAME = 2;
const TRIES = 4;
/** How long after the end of an order a kill may still come: the last write's answer is on its way. */
const LAST_ANSWER_MS = 5_000;

/** The runs whose worker is killed: one after the other, each a new one. */
export interface Victims {
  /** Starts the `n`th. `arm` is called before, with the name that the wire has for it. */
  start(world: World, n: number, arm: (run: string) => void): Promise<OrderId>;
  /** Returns when it has ended. */
  through(world: World, id: OrderId): Promise<void>;
  /** What the partners have of it, once nothing more can come. */
  readonly counts: (world: World, id: OrderId) => Promise<Counts>;
}

export const orders: Victims = {
  async start(world, n, arm) {
    const order = world.order(`PO-${n}`);
    const id = orderIdOf(order);
    arm(world.watch(id));
    await world.pipeline.submit(order, world.policy);
    return id;
  },
  through: (world, id) => untilThrough(world, id),
  counts: (world, id) => countsOnce(world, id, ({ mail }) => mail > 0),
};

export interface Crash {
  id: OrderId;
  counts: Counts;
  /** From the kill until the order is through and nothing of it is left. */
  recoveryMs: number;
}

export interface Crashes {
  /** The boundaries of an order that nothing happens to: the same for two in a row. */
  undisturbed(): Promise<SeenBoundary[]>;
  /** Kills the worker of an order there, starts another, and returns when nothing is left to do. */
  crash(place: Place): Promise<Crash>;
}

/** A world for it: with a wire, and without what would put right in time what the ordinary way left undone. */
export function crashWorld({ implementation }: Stage): WorldOptions {
  return {
    wired: true,
    policy: { heartbeatMs: 1_000 },
    workerEnv: {
      Q2T_HOUSEKEEPING_MS: '0',
      // Nothing extends it on the chain: long enough for one link on a slow machine.
      ...(implementation === 'chain' && { Q2T_VISIBILITY_MS: '3000' }),
    },
  };
}

/** One worker at a time, one run at a time: nobody else dies of the same kill. */
export async function openCrashes(stage: Stage, world: World, victims: Victims): Promise<Crashes> {
  const leftovers = await openLeftovers(stage, world);
  let worker = await world.startWorker();
  let started = 0;

  const submit = (arm: (run: string) => void) => victims.start(world, (started += 1), arm);
  const nothingLeft = async (id: OrderId): Promise<Counts> => {
    await victims.through(world, id);
    await until(`${world.name}: nothing left behind`, async () => {
      const left = await leftovers(id);
      return left.length === 0 ? true : undefined;
    });
    return victims.counts(world, id);
  };

  async function boundariesOfOne(): Promise<SeenBoundary[]> {
    let name = '';
    const id = await submit((run) => (name = run));
    await nothingLeft(id);
    return world.wire.boundaries().filter(({ run }) => run === name);
  }

  async function attempt(
    { label, ordinal, side }: Place,
    byName: boolean,
  ): Promise<Crash | undefined> {
    let killedAt = 0;
    let armed: ReturnType<WorldWire['arm']> | undefined;
    const id = await submit((run) => {
      armed = world.wire.arm({
        at: byName ? `${run} | ${label}` : (each) => each.run === run && each.ordinal === ordinal,
        side,
        action: 'stop-the-world',
        async meanwhile() {
          await worker.kill();
          killedAt = performance.now();
        },
      });
    });
    if (!armed) throw new Error('not armed');
    if (!(await reached(armed, victims.through(world, id)))) return undefined;
    worker = await world.startWorker();
    const counts = await nothingLeft(id);
    return { id, counts, recoveryMs: performance.now() - killedAt };
  }

  return {
    async undisturbed() {
      let last: SeenBoundary[] = [];
      return until('two orders that take the same way', async () => {
        const before = last;
        last = await boundariesOfOne();
        const labels = [before, last].map((each) => each.map(({ label }) => label).join());
        return labels[0] === labels[1] ? last : undefined;
      });
    },
    async crash(place) {
      for (let tried = 0; tried < TRIES; tried += 1) {
        stage.signal.throwIfAborted();
        const crash = await attempt(place, tried < TRIES_BY_NAME);
        if (crash) return crash;
      }
      throw new Error(`no order of ${TRIES} came by ${place.side} ${place.label}`);
    },
  };
}

/** Whether the order came by there: true when its worker is dead, false when it got through without. */
async function reached(
  armed: ReturnType<WorldWire['arm']>,
  through: Promise<void>,
): Promise<boolean> {
  const fired = armed.done.then(() => true);
  const missed = through.then(() =>
    until(
      'the last answer',
      () => Promise.resolve(armed.state === 'fired' || undefined),
      LAST_ANSWER_MS,
    )
      .then(() => fired)
      .catch(() => false),
  );
  const was = await Promise.race([fired, missed]);
  if (!was) armed.disarm();
  // Either of them may still be under way; what it comes to is no news any more.
  fired.catch(() => undefined);
  missed.catch(() => undefined);
  return was;
}
