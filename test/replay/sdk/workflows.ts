import {
  CancellationScope,
  condition,
  defineSignal,
  defineUpdate,
  executeChild,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';

/**
 * Small workflows that are recorded on other versions of the SDK and replayed on this one. They use what
 * the orders use, and one thing that the orders don't: a child whose id is left to the SDK. Never edit
 * one: write another.
 */

export const goSignal = defineSignal('go');
export const answerUpdate = defineUpdate<string, [string]>('answer');

const { ask } = proxyActivities<{ ask(): Promise<string> }>({
  startToCloseTimeout: '10s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { maximumAttempts: 3 },
});
const { check } = proxyLocalActivities<{ check(): Promise<boolean> }>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 3 },
});

/** Goes once through everything. Returns the id of its child. */
export async function traveller(): Promise<string> {
  return travel(() => undefined);
}

/** The same after a careless edit: one id is drawn that nobody has seen. */
export async function travellerWithOneMoreId(): Promise<string> {
  return travel(() => uuid4());
}

async function travel(before: () => void): Promise<string> {
  let gone = false;
  let answered = '';
  setHandler(goSignal, () => {
    gone = true;
  });
  setHandler(answerUpdate, (text) => (answered = text));
  await check();
  await condition(() => answered !== '', '10 days');
  await ask();
  await condition(() => gone, '10 days');
  if (patched('detour')) await sleep(1);
  const steps = new CancellationScope();
  const waiting = steps.run(() => sleep('10 days')).catch(() => undefined);
  await sleep(1);
  steps.cancel();
  await waiting;
  await CancellationScope.nonCancellable(() => ask());
  before();
  return executeChild(child);
}

export async function child(): Promise<string> {
  return workflowInfo().workflowId;
}

/** A signal and the answer of an activity come in one task; waits for both, whichever is first. */
export async function careful(): Promise<void> {
  const { answer, signal } = both();
  await condition(() => signal.came);
  await answer.done;
  await ask();
}

/** The same, but looks whether the answer is there when the signal is: that depends on the SDK. */
export async function careless(): Promise<void> {
  const { answer, signal } = both();
  await condition(() => signal.came);
  if (!answer.came) await sleep(1);
  await answer.done;
  await ask();
}

function both() {
  const signal = { came: false };
  setHandler(goSignal, () => {
    signal.came = true;
  });
  const answer = { came: false, done: Promise.resolve() };
  answer.done = ask().then(() => {
    answer.came = true;
  });
  return { answer, signal };
}
