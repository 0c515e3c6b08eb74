import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { replayQuietly } from '../../replay/gate/quiet.ts';
import { withBundle } from '../../replay/gate/bundle.ts';
import { failureInWords, replayGate } from '../../replay/gate/gate.ts';
import { cutsOf } from '../../replay/history/cut.ts';
import { filesOf, readHistory, type KnownHistory } from '../../replay/history/file.ts';
import { STAGES_IN_FLIGHT } from '../../replay/stages.ts';

/** Above this many events only CI replays every beginning of a history (`npm run replay -- --cut`). */
const SMALL = 75;

replayQuietly();

suite('the workflows', () => {
  let histories: KnownHistory[];
  before(async () => {
    const files = await Promise.all(STAGES_IN_FLIGHT.map((stage) => filesOf(stage)));
    histories = await Promise.all(files.flat().map((file) => readHistory(file)));
  });

  const isSmall = ({ history }: KnownHistory) => (history.events?.length ?? 0) <= SMALL;

  test('do what every longer history says', async () => {
    const long = histories.filter((known) => !isSmall(known));
    const { failures, ...counted } = await gate(long);
    assert.deepEqual(failures.map(failureInWords), []);
    assert.equal(counted.histories, long.length);
    assert.ok(long.length > 0);
  });

  test('do what every small one says, and take up its order after any of its workflow tasks', async () => {
    const small = histories.filter(isSmall);
    const { failures, cuts, ...counted } = await gate(small, true);
    assert.deepEqual(failures.map(failureInWords), []);
    assert.equal(counted.histories, small.length);
    // Each run has more than one task.
    assert.ok(cuts > small.length, `${cuts} beginnings of ${small.length} histories`);
  });

  test('that do not stop a cut short: a beginning ends with what its last task asked for', () => {
    const plain = histories.find(({ name }) => name === 'before/plain');
    assert.ok(plain);
    const ends = [...cutsOf(plain)].map(({ history }) => Object.keys(history.events?.at(-1) ?? {}));
    assert.ok(ends.length > 3);
    for (const keys of ends) {
      assert.ok(keys.includes('activityTaskScheduledEventAttributes'), keys.join());
    }
  });
});

function gate(histories: KnownHistory[], cut = false) {
  return withBundle(process.env['Q2T_TEST_BUNDLE'], (bundle: WorkflowBundleOption) =>
    replayGate(bundle, histories, { cut }),
  );
}
