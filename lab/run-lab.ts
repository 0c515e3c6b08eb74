import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IMPLEMENTATIONS, type Implementation } from '../core/contract.ts';
import { plotAsSvg, plotInText } from './report/plot.ts';
import { machineInWords } from './report/machine.ts';
import { disagreements, pageOf, plotsOf, type Findings } from './report/document.ts';
import { ladderOf, tableOf } from './report/table.ts';
import { asExpected, controlJobs, scenarioJobs, type Result } from './running/job.ts';
import { openProgress } from './running/progress.ts';
import { runJobs } from './running/run.ts';
import type { Scenario } from './scenario.ts';
import { scenarios as all } from './scenarios/all.ts';
import { Ground } from './world/ground.ts';

export interface LabOptions {
  scenarios: readonly Scenario[];
  on: readonly Implementation[];
  full: boolean;
  ladder: boolean;
  seed: number;
  jobs: number;
  slow: boolean;
  json: boolean;
  out: string;
  check: boolean;
  signal: AbortSignal;
}

/**
 * Runs the chosen scenarios, or their controls, prints what came of them, and keeps the page of a whole
 * small run (or compares with it). True when every outcome is the expected one and the page agrees.
 */
export async function runLab(options: LabOptions): Promise<boolean> {
  const { on, seed, signal, slow, ladder } = options;
  const jobs = (ladder ? controlJobs : scenarioJobs)(options.scenarios, on);
  const progress = openProgress(jobs.length, { slow });
  const ground = new Ground({ onProgress: progress.say });
  let results: Result[] = [];
  try {
    await ground.lay();
    results = await runJobs(ground, jobs, {
      size: options.full ? 'full' : 'small',
      seed,
      atOnce: slow ? 1 : options.jobs,
      signal,
      ...progress.hooks,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    progress.end();
    await ground.stop();
  }
  if (signal.aborted) return false;
  return report(options, results);
}

/** Only such a run says something about every cell of the page, or every rung of its ladder. */
function isWhole({ scenarios, on, full, seed, slow }: LabOptions): boolean {
  const everything = scenarios.length === all.length && on.length === IMPLEMENTATIONS.length;
  return everything && !full && !slow && seed === 1;
}

async function report(options: LabOptions, results: Result[]): Promise<boolean> {
  const { scenarios, on, json, seed, ladder } = options;
  if (json) console.log(JSON.stringify({ seed, results }, null, 2));
  else {
    console.log(ladder ? ladderOf(results) : tableOf(scenarios, on, results));
    for (const { scenario, implementation, plot } of plotsOf(results)) {
      console.log(`${scenario} on ${implementation}\n${plotInText(plot)}`);
    }
  }
  const wrong = results.filter((result) => !asExpected(result) || result.error !== undefined);
  for (const { scenario, implementation, without, error } of wrong) {
    const job = `${scenario} on ${implementation}${without ? ` without ${without}` : ''}`;
    console.error(`NOT AS EXPECTED: ${job}${error ? `: ${error}` : ''}`);
  }
  if (!isWhole(options) || wrong.length > 0) return wrong.length === 0;
  return options.check ? agrees(options.out, results) : keep(options, results);
}

async function keep(options: LabOptions, fresh: Result[]): Promise<boolean> {
  const { scenarios, out, seed, ladder } = options;
  // The ladder is run by itself, and so is the rest: the other half stays as it was.
  const kept = (await read(out))?.results ?? [];
  const otherHalf = kept.filter(({ without }) => (without === undefined) === ladder);
  const results = ladder ? [...otherHalf, ...fresh] : [...fresh, ...otherHalf];
  const findings: Findings = { seed, machine: machineInWords(), results };
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'lab.json'), `${JSON.stringify(findings, null, 2)}\n`);
  await writeFile(join(out, 'lab.md'), pageOf(scenarios, findings));
  for (const { file, plot } of plotsOf(results)) await writeFile(join(out, file), plotAsSvg(plot));
  console.error(`written to ${join(out, 'lab.md')}`);
  return true;
}

/** What a run before this one has written there, if any. */
async function read(out: string): Promise<Findings | undefined> {
  try {
    return JSON.parse(await readFile(join(out, 'lab.json'), 'utf8')) as Findings;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function agrees(out: string, results: Result[]): Promise<boolean> {
  const faults = disagreements((await read(out))?.results ?? [], results);
  for (const fault of faults) console.error(`OUT OF DATE in ${join(out, 'lab.md')}: ${fault}`);
  if (faults.length > 0) console.error('write it again with `npm run lab`');
  return faults.length === 0;
}
