import { condition, defineUpdate, proxyActivities, setHandler, sleep } from '@temporalio/workflow';
import type { Effects } from './activities.ts';

const { act, failTwice, large } = proxyActivities<Effects>({
  // A lost attempt is only noticed when this has run out; a slow machine must stay within it.
  startToCloseTimeout: '4 seconds',
  retry: { initialInterval: '50 milliseconds', backoffCoefficient: 1, maximumAttempts: 20 },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

export const approve = defineUpdate<string, [by: string]>('approve');

/** Activities one after the other with a timer and a person between. */
export async function order(): Promise<string[]> {
  let by: string | undefined;
  setHandler(approve, async (name) => {
    by = name;
    return `thanks, ${name}`;
  });
  const charged = await act('charge');
  await sleep(30);
  await condition(() => by !== undefined);
  return [charged, `approved by ${by}`, await act('place')];
}

/** Two activities, one after the other. */
export async function pair(): Promise<string[]> {
  return [await act('first'), await act('second')];
}

/** Activities all at once. */
export async function parallel(count: number): Promise<number> {
  const done = await Promise.all(Array.from({ length: count }, (_, n) => act(`line ${n}`)));
  return done.length;
}

/** A failing activity and a large result. */
export async function rough(bytes: number): Promise<[string, number]> {
  const text = await large(bytes);
  return [await failTwice(), text.length];
}
