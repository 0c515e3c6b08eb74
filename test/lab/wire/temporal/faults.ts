import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { WorkflowHandle } from '@temporalio/client';
import type { Side } from '../../../../lab/wire/fault.ts';
import type { TemporalBoundary } from '../../../../lab/wire/temporal/proxy.ts';
import { until } from '../../../support/until.ts';
import { IMPATIENT, serverAddress, wired } from './wired.ts';

const firstActivity = ({ rpc, task }: TemporalBoundary) =>
  rpc === 'RespondActivityTaskCompleted' && task?.kind === 'activity' && task.activityId === '1';
const firstTask = ({ rpc }: TemporalBoundary) => rpc === 'RespondWorkflowTaskCompleted';

const completed = async (handle: WorkflowHandle) =>
  (await handle.fetchHistory()).events?.filter(
    ({ activityTaskCompletedEventAttributes: done }) => done,
  ).length;

const twoLines = ['first attempt 1', 'second attempt 1'];
/** The first activity was lost and ran again. */
const threeLines = ['first attempt 1', 'first attempt 2', 'second attempt 1'];

const cases: {
  name: string;
  at: (boundary: TemporalBoundary) => boolean;
  side: Side;
  known: number;
  effects: string[];
}[] = [
  {
    name: 'an activity is answered',
    at: firstActivity,
    side: 'before',
    known: 0,
    effects: threeLines,
  },
  {
    name: 'an activity is answered',
    at: firstActivity,
    side: 'after',
    known: 1,
    effects: twoLines,
  },
  {
    name: 'a workflow task is answered',
    at: firstTask,
    side: 'before',
    known: 0,
    effects: twoLines,
  },
];

// Each mostly waits for a timeout of the server's, so a few go side by side.
describe('faults at the wire', { concurrency: 3 }, () => {
  for (const { name, at, side, known, effects } of cases)
    test(`a worker killed ${side} ${name}: a successor finishes, with ${effects.length} effects`, async (t) => {
      const wire = await wired(t, IMPATIENT);
      const { proxy, worker, start, id } = wire;
      const victim = await worker('victim');
      const armed = proxy.arm({
        at,
        side,
        action: 'stop-the-world',
        meanwhile: () => victim.kill(),
      });
      const handle = await start('pair', id('pair'));
      await armed.done;
      assert.equal(await completed(handle), known);
      assert.deepEqual(proxy.connections('victim'), []);
      await worker('successor');
      assert.deepEqual(await handle.result(), ['first', 'second']);
      assert.deepEqual(await wire.effects(id('pair')), effects);
      assert.deepEqual(proxy.unfired(), []);
    });

  test('eager activities in a lost answer are attempts that never ran', async (t) => {
    const wire = await wired(t, IMPATIENT);
    await wire.worker('w');
    const armed = wire.proxy.arm({ at: firstTask, side: 'after', action: 'lose-answer' });
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.done;
    assert.deepEqual(await handle.result(), ['first', 'second']);
    assert.deepEqual(await wire.effects(wire.id('pair')), ['first attempt 2', 'second attempt 1']);
  });

  test('a lost answer alone proves nothing: the worker asks again and takes not-found for done', async (t) => {
    const wire = await wired(t);
    await wire.worker('w');
    const armed = wire.proxy.arm({ at: firstActivity, side: 'after', action: 'lose-answer' });
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.done;
    assert.deepEqual(await handle.result(), ['first', 'second']);
    assert.deepEqual(await wire.effects(wire.id('pair')), twoLines);
  });

  test('a dropped request is lost: the attempt times out and the activity runs again', async (t) => {
    const wire = await wired(t);
    await wire.worker('w');
    const armed = wire.proxy.arm({ at: firstActivity, side: 'before', action: 'drop-request' });
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.done;
    assert.equal(await completed(handle), 0);
    assert.deepEqual(await handle.result(), ['first', 'second']);
    assert.deepEqual(await wire.effects(wire.id('pair')), threeLines);
  });

  test('a dropped request that the worker is told of is sent again: nothing is lost', async (t) => {
    const wire = await wired(t);
    await wire.worker('w');
    const fault = {
      at: firstActivity,
      side: 'before',
      action: 'drop-request',
      caller: 'is-reset',
    } as const;
    const armed = wire.proxy.arm(fault);
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.done;
    assert.deepEqual(await handle.result(), ['first', 'second']);
    assert.deepEqual(await wire.effects(wire.id('pair')), twoLines);
  });

  test('a delayed call arrives late', async (t) => {
    const wire = await wired(t);
    await wire.worker('w');
    const release = Promise.withResolvers<void>();
    const armed = wire.proxy.arm({
      at: firstActivity,
      side: 'before',
      action: 'delay',
      meanwhile: () => release.promise,
    });
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.fired;
    assert.equal(await completed(handle), 0);
    release.resolve();
    assert.deepEqual(await handle.result(), ['first', 'second']);
    assert.deepEqual(await wire.effects(wire.id('pair')), twoLines);
  });

  test('a worker whose connections are cut comes back by itself and goes on', async (t) => {
    const wire = await wired(t, IMPATIENT);
    await wire.worker('w');
    const armed = wire.proxy.arm({ at: firstActivity, side: 'after', action: 'cut' });
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.done;
    assert.deepEqual(await handle.result(), ['first', 'second']);
    assert.deepEqual(await wire.effects(wire.id('pair')), twoLines);
    assert.deepEqual(
      wire.proxy.connections().map(({ client }) => client),
      ['w'],
    );
  });

  test('a half-open worker is silent and unclosed; another one takes over, after what the open polls swallow', async (t) => {
    const wire = await wired(t, IMPATIENT);
    const silent = await wire.worker('silent');
    const armed = wire.proxy.arm({ at: firstActivity, side: 'before', action: 'half-open' });
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.done;
    const seen = wire.proxy.boundaries().length;
    await wire.worker('other', serverAddress);
    assert.deepEqual(await handle.result(), ['first', 'second']);
    const effects = await wire.effects(wire.id('pair'));
    assert.deepEqual(effects.slice(0, 1), ['first attempt 1']);
    // Its open polls swallow tasks, so the number of the attempt that came through is not fixed.
    assert.equal(effects.filter((line) => line.startsWith('first')).length, 2);
    assert.equal(wire.proxy.boundaries().length, seen);
    assert.deepEqual(wire.proxy.connections('silent'), [{ client: 'silent', state: 'shut' }]);
    assert.equal(silent.child.exitCode, null);
  });

  test('a frozen worker is overtaken; when it wakes, its answer is too late to count', async (t) => {
    const wire = await wired(t, IMPATIENT);
    const zombie = await wire.worker('zombie');
    const armed = wire.proxy.arm({
      at: firstActivity,
      side: 'before',
      action: 'stop-the-world',
      meanwhile: () => void zombie.child.kill('SIGSTOP'),
    });
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.done;
    await wire.worker('successor');
    assert.deepEqual(await handle.result(), ['first', 'second']);
    zombie.child.kill('SIGCONT');
    await until('the zombie to come back', async () => wire.proxy.connections('zombie').length > 0);
    assert.deepEqual(await wire.effects(wire.id('pair')), threeLines);
    assert.equal(await completed(handle), 2);
  });

  test('the world stops for one worker only, and what it had under way waits with it', async (t) => {
    const wire = await wired(t, IMPATIENT);
    const victim = await wire.worker('victim');
    const release = Promise.withResolvers<void>();
    const armed = wire.proxy.arm({
      at: ({ client, ...boundary }) =>
        client === 'victim' && firstActivity({ client, ...boundary }),
      side: 'before',
      action: 'stop-the-world',
      meanwhile: async () => {
        await release.promise;
        await victim.kill();
      },
    });
    const handle = await wire.start('pair', wire.id('pair'));
    await armed.fired;
    await wire.worker('other');
    const state = (client: string) => wire.proxy.connections(client).map((each) => each.state);
    await until('the other worker to be connected', async () => state('other').length > 0);
    assert.deepEqual([state('victim'), state('other')], [['shut'], ['open']]);
    release.resolve();
    await armed.done;
    assert.deepEqual([state('victim'), state('other')], [[], ['open']]);
    assert.deepEqual(await handle.result(), ['first', 'second']);
  });
});
