import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import ora from 'ora';
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
    const spinner = ora('starting Postgres').start();
    const result = await runTransportBench(plan, (text) => {
      spinner.text = text;
      // Without a terminal the spinner shows nothing.
      if (!process.stderr.isTTY) console.error(text);
    });
    spinner.succeed('measured');
    const report = reportTransport(result);
    await mkdir(out, { recursive: true });
    await writeFile(join(out, 'transport.md'), `${report}\n`);
    await writeFile(join(out, 'transport.json'), `${JSON.stringify(result, null, 2)}\n`);
    console.log(report);
  });

await program.parseAsync();

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) {
    throw new InvalidArgumentError('give a whole number of at least 1');
  }
  return count;
}
