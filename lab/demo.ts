import { IMPLEMENTATIONS } from '../core/contract.ts';
import { onStopSignal } from '../stack/stop-signal.ts';
import { verdictInWords } from './report/cell.ts';
import { tableOf } from './report/table.ts';
import { asExpected, scenarioJobs, type Job, type Result } from './running/job.ts';
import { runJobs } from './running/run.ts';
import type { Scenario } from './scenario.ts';
import { buyingAgent } from './demo/buying-agent.ts';
import { approval } from './scenarios/approval.ts';
import { killWorker } from './scenarios/kill-worker.ts';
import { wakeOnThursday } from './scenarios/wake-on-thursday.ts';
import { Ground } from './world/ground.ts';

/**
 * `npm run demo`: three scenarios of the lab and the buying agent, told step by step, each on chain, queue
 * and temporal at the same time. Exits 0 only when everything it shows is as it must be, where the chain breaks included; 1
 * otherwise, 130 when stopped. Leaves nothing running.
 */
const TOUR: readonly Scenario[] = [killWorker, approval, wakeOnThursday, buyingAgent];

const began = performance.now();
const ground = new Ground({ onProgress: tell });
const stopped = new AbortController();
onStopSignal({
  stop: () => {
    tell('stopping everything');
    stopped.abort(new Error('the demo was stopped'));
  },
  force: () => process.exit(130),
});

let exitCode = 1;
try {
  exitCode = (await showAround()) ? 0 : 1;
} catch (error) {
  if (!stopped.signal.aborted) console.error(error instanceof Error ? error.message : error);
} finally {
  await ground.stop();
}
process.exit(stopped.signal.aborted ? 130 : exitCode);

async function showAround(): Promise<boolean> {
  await ground.lay();
  tell(`Temporal's web page, while this runs: ${ground.stack.uiUrl}`);
  const results: Result[] = [];
  for (const scenario of TOUR) {
    console.log(`\n${scenario.name}: ${scenario.claim}\n  the fault: ${scenario.fault}\n`);
    results.push(...(await showScenario(scenario)));
  }
  console.log(`\n${tableOf(TOUR, IMPLEMENTATIONS, results)}`);
  const right = results.every((result) => asExpected(result) && result.error === undefined);
  tell(
    right ? 'All as it must be; the partners did the counting.' : 'Something is WRONG: see above.',
  );
  tell(
    'There are more: `npm run lab -- list`, and `npm run lab -- show kill-worker` explains one.',
  );
  return right;
}

function showScenario(scenario: Scenario): Promise<Result[]> {
  return runJobs(ground, scenarioJobs([scenario]), {
    size: 'small',
    seed: 1,
    atOnce: IMPLEMENTATIONS.length,
    signal: stopped.signal,
    say: (job, text) => Promise.resolve(tell(`${label(job)}${text}`)),
    onEnd: (job, { outcome, error }) => {
      tell(`${label(job)}${outcome ? verdictInWords(outcome) : `no outcome: ${error}`}`);
    },
  });
}

function label({ implementation }: Job): string {
  return implementation.padEnd(Math.max(...IMPLEMENTATIONS.map(({ length }) => length)) + 2);
}

/** One line, with the seconds since the beginning; plain text, so that it reads the same in a log. */
function tell(text: string): void {
  const at = ((performance.now() - began) / 1_000).toFixed(1).padStart(6);
  console.log(`${at}s  ${text}`);
}
