import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import ora from 'ora';
import { reportAgents } from './agents/report.ts';
import { runAgentsBench, type AgentsPlan } from './agents/run.ts';
import { reportOrders } from './orders/report.ts';
import { runOrdersBench, type OrdersPlan } from './orders/run.ts';
import { fullReplayPlan, type ReplayPlan } from './replay/plan.ts';
import { reportReplay } from './replay/report.ts';
import { runReplayBench } from './replay/run.ts';
import { fullPlan, quickPlan, type Plan } from './transport/plan.ts';
import { reportTransport } from './transport/report.ts';
import { runTransportBench } from './transport/run.ts';

const program = new Command('bench').description(
  'Measures, and writes what it measured to docs/measured/, with the machine and its settings.',
);

interface TransportOptions {
  quick?: true;
  jobs?: number;
  rounds?: number;
  out: string;
}

program
  .command('transport')
  .description('our transport against pg-boss and graphile-worker, on one Postgres, taking turns')
  .option('--quick', 'a short run: three modes, one round, few jobs')
  .option('--jobs <count>', 'jobs per cell, ten times as many in batches', parseCount)
  .option('--rounds <count>', 'how often each contender has its turn', parseCount)
  .option('--out <folder>', 'where the report goes', 'docs/measured')
  .action(async ({ quick, jobs, rounds, out }: TransportOptions) => {
    const plan: Plan = { ...(quick === true ? quickPlan : fullPlan) };
    if (jobs !== undefined) Object.assign(plan, { unbatchedJobs: jobs, batchedJobs: 10 * jobs });
    if (rounds !== undefined) plan.rounds = rounds;
    await measure(
      'transport',
      out,
      (announce) => runTransportBench(plan, announce),
      reportTransport,
    );
  });

program
  .command('orders')
  .description('whole orders on chain, queue and temporal, one worker each, taking turns')
  .option('--orders <count>', 'orders of one line in each cell', parseCount, 200)
  .option('--rounds <count>', 'how often each implementation has its turn', parseCount, 3)
  .option('--out <folder>', 'where the report goes', 'docs/measured')
  .action(async ({ out, ...plan }: OrdersPlan & { out: string }) => {
    await measure('orders', out, (announce) => runOrdersBench(plan, announce), reportOrders);
  });

program
  .command('agents')
  .description('runs of the buying agent on queue and temporal, one worker each, taking turns')
  .option('--requests <count>', 'short requests in each cell', parseCount, 20)
  .option('--turns <count>', 'turns of the one long run', parseCount, 100)
  .option('--rounds <count>', 'how often each implementation has its turn', parseCount, 2)
  .option('--out <folder>', 'where the report goes', 'docs/measured')
  .action(async ({ out, ...plan }: AgentsPlan & { out: string }) => {
    await measure('agents', out, (announce) => runAgentsBench(plan, announce), reportAgents);
  });

program
  .command('replay')
  .description('how fast histories replay, how a cold worker takes up a run, what a cache costs')
  .option('--lines <count>', 'lines of the long run', parseCount, fullReplayPlan.lines)
  .option('--runs <count>', 'open runs for each cache', parseCount, fullReplayPlan.runs)
  .option('--large-runs <count>', 'of 240 lines', parseCount, fullReplayPlan.largeRuns)
  .option('--events <count>', 'events to replay in a cell', parseCount, fullReplayPlan.events)
  .option(
    '--rounds <count>',
    'how often each measurement has its turn',
    parseCount,
    fullReplayPlan.rounds,
  )
  .option('--out <folder>', 'where the report goes', 'docs/measured')
  .action(async ({ out, ...plan }: Partial<ReplayPlan> & { out: string }) => {
    await measure(
      'replay',
      out,
      (announce) => runReplayBench({ ...fullReplayPlan, ...plan }, announce),
      reportReplay,
    );
  });

await program.parseAsync();

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) {
    throw new InvalidArgumentError('give a whole number of at least 1');
  }
  return count;
}

/** Runs with progress, then prints the report and writes it to `out`, the single values beside it. */
async function measure<T>(
  name: string,
  out: string,
  run: (announce: (text: string) => void) => Promise<T>,
  report: (result: T) => string,
): Promise<void> {
  const spinner = ora('starting').start();
  const result = await run((text) => {
    spinner.text = text;
    // Without a terminal the spinner shows nothing.
    if (!process.stderr.isTTY) console.error(text);
  });
  spinner.succeed('measured');
  const page = report(result);
  await mkdir(out, { recursive: true });
  await writeFile(join(out, `${name}.md`), `${page}\n`);
  await writeFile(join(out, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  console.log(page);
}
