import {
  condition,
  defineQuery,
  defineSignal,
  patched,
  proxyActivities,
  proxySinks,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { Sinks } from '@temporalio/workflow';
import { known } from './shared-cache.ts';

/** Small workflows, each around one failure that others met. */

export interface Counters extends Sinks {
  counter: { count(what: string): void };
}

export const nextSignal = defineSignal('next');
export const cancelSignal = defineSignal('cancel');
export const seenQuery = defineQuery<string[]>('seen');

const { ask } = proxyActivities<{ ask(what: string): Promise<string> }>({
  startToCloseTimeout: '10s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { maximumAttempts: 3 },
});
const { counter } = proxySinks<Counters>();

/** Stops before a patch until it is told to go on. */
export async function stops(): Promise<string[]> {
  return twoSteps(() => patched('detour'));
}

/** The same from before the patch. */
export async function stopsBefore(): Promise<string[]> {
  return twoSteps(() => false);
}

async function twoSteps(takesDetour: () => boolean): Promise<string[]> {
  const seen: string[] = [];
  const go = { on: false };
  setHandler(seenQuery, () => seen);
  setHandler(nextSignal, () => {
    go.on = true;
  });
  const see = (what: string) => {
    seen.push(what);
    counter.count(what);
  };
  see(await ask('first'));
  await condition(() => go.on);
  const detour = takesDetour();
  see(detour ? 'new path' : 'old path');
  if (detour) await sleep(1);
  see(await ask('second'));
  return seen;
}

/** Keeps what it learnt in itself. */
export async function remembers(): Promise<string> {
  return usesTools(new Map());
}

/** Keeps it in its module, and that module is one for all runs of a worker. */
export async function remembersForAll(): Promise<string> {
  return usesTools(known);
}

async function usesTools(tools: Map<string, string>): Promise<string> {
  const go = { on: false };
  setHandler(nextSignal, () => {
    go.on = true;
  });
  const name = tools.get('tools') ?? (await ask('tools'));
  tools.set('tools', name);
  await condition(() => go.on);
  return ask(tools.get('tools') ?? 'nothing');
}

/** Is not ready when the signal comes together with the start. */
export async function readyTooLate(): Promise<string> {
  const state: { order?: { cancelled: boolean } } = {};
  setHandler(cancelSignal, () => {
    if (state.order) state.order.cancelled = true;
  });
  await ask('order');
  const order = { cancelled: false };
  state.order = order;
  await condition(() => order.cancelled, '1s');
  return order.cancelled ? 'cancelled' : 'completed';
}

/** Parses without end what should never have come here. */
export async function parses(): Promise<never> {
  const text = JSON.stringify(Array.from({ length: 1_000 }, (_, n) => ({ n })));
  for (;;) JSON.parse(text);
}

export async function throws(): Promise<never> {
  throw new TypeError('no budget');
}
