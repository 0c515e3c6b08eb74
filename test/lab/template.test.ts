import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { asExpected, scenarioJobs } from '../../lab/running/job.ts';
import { runJobs } from '../../lab/running/run.ts';
import type { Scenario } from '../../lab/scenario.ts';
import { Ground } from '../../lab/world/ground.ts';
import { projectRoot } from '../../stack/runtime.mjs';

// Beside the real ones, since its imports are written for that place.
const copy = join(projectRoot, `lab/scenarios/template-${process.pid}.ts`);
const ground = new Ground();
after(async () => {
  await ground.stop();
  await rm(copy, { force: true });
});

test('the scenario in docs/lab.md runs as it stands there', async () => {
  const page = await readFile(join(projectRoot, 'docs/lab.md'), 'utf8');
  const [, source] = /<!-- template -->\s*```ts\n([\s\S]*?)```/.exec(page) ?? [];
  assert.ok(source, 'no template in docs/lab.md');
  const lines = source.trimEnd().split('\n').length;
  assert.ok(lines <= 46, `about 40 lines are promised, ${lines} are there`);
  await writeFile(copy, source);
  const module = (await import(pathToFileURL(copy).href)) as { secondThoughts: Scenario };
  await ground.lay();
  const results = await runJobs(ground, scenarioJobs([module.secondThoughts]), {
    size: 'small',
    seed: 1,
    atOnce: 3,
    signal: new AbortController().signal,
  });
  for (const result of results) {
    assert.ok(asExpected(result), `${result.implementation}: ${JSON.stringify(result)}`);
  }
});
