import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { agentBlindSpots, wrongAgentChanges } from '../../replay/changes/agent.ts';
import { blindSpots } from '../../replay/changes/blind-spots.ts';
import { copySources, type Copy } from '../../replay/changes/change.ts';
import { wrongChanges } from '../../replay/changes/wrong.ts';
import { failureInWords, replayGate } from '../../replay/gate/gate.ts';
import { replayQuietly } from '../../replay/gate/quiet.ts';
import { HISTORIES_DIR, readHistory } from '../../replay/history/file.ts';
import { CURRENT_STAGE } from '../../replay/stages.ts';

replayQuietly();

let copy: Copy;
before(async () => {
  copy = await copySources();
});
after(() => copy.remove());

const recorded = (path: string) => readHistory(join(HISTORIES_DIR, `${path}.json`));
const current = (path: string) => `${CURRENT_STAGE}/${path}`;

suite('the gate stops', () => {
  for (const change of [...wrongChanges, ...wrongAgentChanges]) {
    test(change.name, async () => {
      const bundle = await copy.bundleWith(change);
      const { failures } = await replayGate(bundle, [await recorded(current(change.path))]);
      const [failure] = failures;
      assert.ok(failure, 'the gate is broken: it let a wrong change pass');
      const said = failureInWords(failure);
      assert.ok(failure.history.startsWith(change.says.history), said);
      assert.ok(failure.code.startsWith(change.says.code), said);
    });
  }
});

suite('the gate does not see', () => {
  /** Runs that come to all of the blind spots. */
  const met = [
    'plain',
    'approved',
    'charged-later',
    'rejected',
    'stuck-fixed',
    '251-lines-lines-1',
  ].map(current);

  for (const change of blindSpots) {
    test(`${change.name}; what guards it: ${change.guard}`, async () => {
      const bundle = await copy.bundleWith(change);
      const { failures } = await replayGate(bundle, await Promise.all(met.map(recorded)));
      assert.deepEqual(failures.map(failureInWords), []);
    });
  }

  test('what the agent’s arguments say, all of it at once', async () => {
    const edits = agentBlindSpots.flatMap((spot) => spot.edits);
    const bundle = await copy.bundleWith({ name: 'all of the agent’s', edits });
    const paths = new Set(agentBlindSpots.flatMap(({ met }) => met));
    const { failures, histories } = await replayGate(
      bundle,
      await Promise.all([...paths].map(recorded)),
    );
    assert.deepEqual(failures.map(failureInWords), []);
    assert.ok(histories > 3);
  });
});

test('a change whose place in the source is gone says so', async () => {
  const edits = [{ file: 'workflows/price.ts', from: 'no such text', to: '' }];
  await assert.rejects(copy.bundleWith({ name: 'stale', edits }), /"stale" does not fit.*0 times/s);
});
