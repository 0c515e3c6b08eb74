import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { failureInWords, replayGate } from '../../replay/gate/gate.ts';
import { replayQuietly } from '../../replay/gate/quiet.ts';
import { filesOf, HISTORIES_DIR, readHistory } from '../../replay/history/file.ts';
import type { KnownHistory } from '../../replay/history/file.ts';
import { STAGES_IN_FLIGHT } from '../../replay/stages.ts';
import { asType } from '../../replay/history/as-type.ts';
import { eachTask, tasksWithBoth, withFlags } from './edited.ts';

replayQuietly();

let bundle: WorkflowBundle;
let versions: string[];
before(async () => {
  versions = (await readdir(HISTORIES_DIR)).filter((name) => name.startsWith('sdk-')).sort();
  bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./sdk/workflows.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
});

const recorded = (version: string, workflow: string) =>
  readHistory(join(HISTORIES_DIR, version, `${workflow}.json`));

async function deviations(...histories: KnownHistory[]): Promise<string[]> {
  return (await replayGate(bundle, histories)).failures.map(failureInWords);
}

suite('a new SDK', () => {
  test('B1: follows what older ones recorded, also those that did not write down their flags', async () => {
    assert.ok(versions.length >= 3, versions.join());
    const histories = await Promise.all(versions.map(filesIn));
    const { failures, ...counted } = await replayGate(bundle, histories.flat(), { cut: true });
    assert.deepEqual(failures.map(failureInWords), []);
    assert.equal(counted.histories, 3 * versions.length);
  });

  test('B1: is told from the old one by the orders’ histories, which say on which SDK they ran', async () => {
    for (const stage of STAGES_IN_FLIGHT) {
      for (const file of await filesOf(stage)) {
        const { history } = await readHistory(file);
        const facts = history.events?.map((event) => event.workflowTaskCompletedEventAttributes);
        const named = facts?.find((task) => task?.sdkMetadata?.sdkVersion);
        assert.match(named?.sdkMetadata?.sdkVersion ?? '', /^1\.\d+\.\d+$/, file);
      }
    }
  });

  test('B1: would not follow 1.11.1 without the build id, by which it knows what flags were meant', async () => {
    const known = await recorded('sdk-1.11.1', 'careless');
    const nameless = eachTask(known, (task) => ({ ...task, workerVersion: null }));
    assert.match((await deviations(nameless)).join(), /the code starts a timer/);
  });

  test('B1: one more id drawn at random moves the id of a child that was left to the SDK, and the run stalls', async () => {
    for (const version of versions) {
      const edited = asType(await recorded(version, 'traveller'), 'travellerWithOneMoreId');
      const [said = '', ...others] = await deviations(edited);
      assert.match(said, /the history starts child "[0-9a-f-]{36}".*the code gives it the id "/);
      assert.deepEqual(others, []);
    }
  });
});

suite('B8: a signal and the answer of an activity in one task', () => {
  test('are recorded so', async () => {
    for (const version of versions) {
      for (const workflow of ['careful', 'careless']) {
        const together = tasksWithBoth(await recorded(version, workflow));
        assert.equal(together, 1, `${version}/${workflow}`);
      }
    }
  });

  test('come to code in another order since 1.11; code that waits for both asks for the same', async () => {
    const asked = await Promise.all(versions.map((v) => recorded(v, 'careful').then(commands)));
    for (const each of asked) assert.deepEqual(each, asked[0]);
    const before = await recorded('sdk-1.10.3', 'careful');
    const after = await recorded('sdk-1.23.0', 'careful');
    assert.deepEqual(await deviations(withFlags(before, [1, 2]), withFlags(after, [])), []);
  });

  test('make code that looks which was first ask for something else, so it hangs on the flag of its task', async () => {
    const before = await recorded('sdk-1.10.3', 'careless');
    const after = await recorded('sdk-1.23.0', 'careless');
    assert.notDeepEqual(commands(before), commands(after));
    const said = await deviations(withFlags(before, [1, 2]), withFlags(after, []));
    assert.equal(said.length, 2, said.join('\n'));
    assert.match(said[0] ?? '', /the history starts a timer of 0.001 s/);
    assert.match(said[1] ?? '', /the code starts a timer/);
  });
});

async function filesIn(version: string): Promise<KnownHistory[]> {
  return Promise.all((await filesOf(version)).map((file) => readHistory(file)));
}

/** What the code asked for, by kind. */
function commands({ history }: KnownHistory): string[] {
  return (history.events ?? []).flatMap((event) => {
    if (event.activityTaskScheduledEventAttributes) return ['activity'];
    if (event.timerStartedEventAttributes) return ['timer'];
    return event.workflowExecutionCompletedEventAttributes ? ['end'] : [];
  });
}
