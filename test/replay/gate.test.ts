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
const SMALL = 150;

replayQuietly();

suite('the workflows', () => {
  let histories: KnownHistory[];
  before(async () => {
    const files = await Promise.all(STAGES_IN_FLIGHT.map((stage) => filesOf(stage)));
    histories = await Promise.all(files.flat().map((file) => readHistory(file)));
  });

  test('do what every recorded history says', async () => {
    const { failures, ...counted } = await gate(histories);
    assert.deepEqual(failures.map(failureInWords), []);
    assert.equal(counted.histories, histories.length);
  });

  test('take up every small order after any of its workflow tasks', async () => {
    const small = histories.filter(({ history }) => (history.events?.length ?? 0) <= SMALL);
    const { failures, cuts } = await gate(small, true);
    assert.deepEqual(failures.map(failureInWords), []);
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
