import type { OrderId } from '../../../core/identity.ts';
import { countMessages, openMessages, untilQuiet } from '../../observe/messages.ts';
import { until, untilPosition } from '../../observe/until.ts';
import type { Figures, Stage } from '../../scenario.ts';
import { machineAhead } from '../../time/clock.ts';
import type { WorkerHandle, World } from '../../world/world.ts';
import { HOUR_MS, MINUTE_MS } from './dates.ts';

const QUARTER_MS = 15 * MINUTE_MS;

/** One order's time, and the partners' in step with it. */
export interface Calendar {
  /** Waits until the order does; what waiting costs in messages. */
  untilItWaits(): Promise<Figures>;
  /** Lets time pass until `at`, ms since 1970. */
  goTo(at: number): Promise<void>;
  startWorker(): Promise<void>;
  killWorker(): Promise<void>;
  /** Returns when the workers have nothing to do at this time. */
  quiet(): Promise<void>;
}

export async function openCalendar(stage: Stage, world: World, id: OrderId): Promise<Calendar> {
  const chain = world.implementation === 'chain';
  const messages = await openMessages(stage, world);
  let aheadMs = 0;
  let worker: WorkerHandle | undefined;

  async function startWorker(): Promise<void> {
    // A chain asks its own machine what day it is, so that is the clock that has to move.
    worker = await world.startWorker(chain ? machineAhead(aheadMs) : {});
  }

  async function killWorker(): Promise<void> {
    await worker?.kill();
    worker = undefined;
  }

  async function chainWaits(): Promise<Figures> {
    await until(`chain: ${id.orderRef} is a delayed message`, async () => {
      const { reservation } = await world.partners.counts({ orderRef: id.orderRef });
      const { delayed } = await countMessages(messages, world);
      return reservation === 1 && delayed === 1 ? true : undefined;
    });
    await world.forward(id, QUARTER_MS - MINUTE_MS);
    const { delayed } = await countMessages(messages, world);
    await world.forward(id, MINUTE_MS);
    await untilQuiet(messages, world);
    const again = await countMessages(messages, world);
    if (delayed + again.delayed !== 2) throw new Error('the message was not passed on');
    await stage.say('14 minutes: a delayed message. 15: received, looked at, sent again');
    return { 'wake-ups a day': (24 * HOUR_MS) / QUARTER_MS };
  }

  return {
    startWorker,
    killWorker,
    async untilItWaits() {
      if (chain) return chainWaits();
      await untilPosition(world, id, ({ waitingFor }) => waitingFor?.kind === 'date');
      if (world.implementation === 'temporal') return {};
      const { delayed } = await untilQuiet(messages, world);
      return { 'wake-ups a day': delayed };
    },
    async goTo(at) {
      const ms = at - Date.now() - aheadMs;
      const working = worker !== undefined;
      if (chain) await killWorker();
      aheadMs += ms;
      await world.partners.advanceClock(ms);
      await world.forward(id, ms);
      if (chain && working) await startWorker();
    },
    async quiet() {
      await untilQuiet(messages, world);
    },
  };
}
