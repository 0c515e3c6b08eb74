import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { bundleStage } from '../../replay/gate/bundle.ts';
import { replayQuietly } from '../../replay/gate/quiet.ts';
import { replayAll } from '../../replay/gate/replay.ts';
import { HISTORIES_DIR, readHistory } from '../../replay/history/file.ts';
import { CURRENT_STAGE, STAGES, type Stage } from '../../replay/stages.ts';
import { projectRoot } from '../../stack/runtime.mjs';

replayQuietly();

/** Orders that come through all steps, with an approval and without. */
const THROUGH = ['plain', 'approved'];

/** Which code takes up which runs, as the page says it. */
const page = await readFile(join(projectRoot, 'docs', 'replay.md'), 'utf8');
const rows = [...page.matchAll(/^\| `(\w+)` +\|(.*)\|$/gm)].map(([, code, cells = '']) => {
  const said = cells.split('|').map((cell) => cell.trim() === 'yes');
  return [code, said] as const;
});

const bundles = new Map(STAGES.map((stage) => [stage, bundleOf(stage)]));

/** That of the current stage the test run has made already. */
async function bundleOf(stage: Stage): Promise<WorkflowBundleOption> {
  const made = process.env['Q2T_TEST_BUNDLE'];
  return stage === CURRENT_STAGE && made !== undefined ? { codePath: made } : bundleStage(stage);
}

async function follows(code: Stage, recorded: Stage): Promise<string[]> {
  const bundle = await bundles.get(code);
  assert.ok(bundle);
  const files = THROUGH.map((path) => join(HISTORIES_DIR, recorded, `${path}.json`));
  const histories = await Promise.all(files.map((file) => readHistory(file)));
  const stalls: string[] = [];
  for await (const { name, error } of replayAll(bundle, histories)) {
    if (error !== undefined) stalls.push(`${name}: ${error}`);
  }
  return stalls;
}

suite('of the four stages of the change', () => {
  test('the page says how each meets each', () => {
    assert.deepEqual(
      rows.map(([code, cells]) => [code, cells.length]),
      STAGES.map((stage) => [stage, STAGES.length]),
    );
  });

  for (const code of STAGES) {
    for (const recorded of STAGES) {
      const takesUp = rows.find(([name]) => name === code)?.[1][STAGES.indexOf(recorded)] === true;
      test(`the code of ${code} ${takesUp ? 'takes up' : 'stalls'} runs of ${recorded}`, async () => {
        const said = await follows(code, recorded);
        assert.equal(said.length, takesUp ? 0 : THROUGH.length, said.join('\n'));
      });
    }
  }
});
