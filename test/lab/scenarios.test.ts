import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { IMPLEMENTATIONS } from '../../core/contract.ts';
import { checkGuard } from '../../lab/guards/guard.ts';
import { pageOf, type Findings } from '../../lab/report/document.ts';
import { asExpected, controlJobs, scenarioJobs } from '../../lab/running/job.ts';
import { explain } from '../../lab/report/show.ts';
import { scenarios } from '../../lab/scenarios/all.ts';
import { projectRoot } from '../../stack/runtime.mjs';

const page = join(projectRoot, 'docs/measured/lab.md');
const findings = join(projectRoot, 'docs/measured/lab.json');

test('every scenario has a name of its own', () => {
  const names = scenarios.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  for (const name of names) assert.match(name, /^[a-z]+(-[a-z]+)*$/);
});

test('every scenario can fail: it breaks somewhere, or breaks without a guard', () => {
  const unproven = scenarios.filter(
    ({ expected, controls = [] }) =>
      controls.length === 0 && IMPLEMENTATIONS.every((on) => expected[on].verdict === 'held'),
  );
  assert.deepEqual(
    unproven.map(({ name }) => name),
    [],
  );
});

test('the code that a scenario points at is there', () => {
  const files = scenarios.flatMap(({ code }) => IMPLEMENTATIONS.flatMap((on) => code[on]));
  assert.deepEqual(
    files.filter((file) => !existsSync(join(projectRoot, file))),
    [],
  );
});

test('every guard that is taken away still stands where it is looked for', async () => {
  for (const { control } of controlJobs(scenarios)) if (control) await checkGuard(control.without);
});

test('every scenario explains itself, and how to watch it', () => {
  for (const scenario of scenarios) {
    const text = explain(scenario);
    assert.ok(text.includes(scenario.claim) && text.includes(scenario.fault));
    assert.ok(text.includes(`npm run lab -- ${scenario.name} --on queue --slow`));
  }
});

test('the page of the lab is what the command wrote, about the scenarios there are', async () => {
  const kept = JSON.parse(await readFile(findings, 'utf8')) as Findings;
  assert.equal(await readFile(page, 'utf8'), pageOf(scenarios, kept), 'run `npm run lab` again');
  const jobs = [...scenarioJobs(scenarios), ...controlJobs(scenarios)];
  assert.equal(kept.results.length, jobs.length);
  for (const { scenario, implementation, control } of jobs) {
    const result = kept.results.find(
      (each) =>
        each.scenario === scenario.name &&
        each.implementation === implementation &&
        each.without === control?.without.name,
    );
    assert.ok(result, `${scenario.name} on ${implementation} is not on the page`);
    const expected = control
      ? { verdict: 'broke' as const, how: control.breaks }
      : scenario.expected[implementation];
    assert.ok(
      asExpected({ ...result, expected }),
      `${scenario.name} on ${implementation}: the page says something else than the scenario`,
    );
  }
});
