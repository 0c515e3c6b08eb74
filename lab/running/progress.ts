import { setTimeout as sleep } from 'node:timers/promises';
import { createInterface } from 'node:readline/promises';
import ora from 'ora';
import { verdictInWords } from '../report/cell.ts';
import { asExpected, nameOf, type Job, type Result } from './job.ts';
import type { RunOptions } from './run.ts';

/** Without a terminal there is no key to wait for. */
const SLOW_STEP_MS = 2_000;

export interface Progress {
  say: (line: string) => void;
  hooks: Required<Pick<RunOptions, 'onStart' | 'onEnd' | 'say'>>;
  end(): void;
}

/** Progress on stderr: a line for each job that ends, and, on a terminal, what is running now. */
export function openProgress(total: number, { slow }: { slow: boolean }): Progress {
  const began = performance.now();
  const running = new Set<string>();
  const spinner = slow || !process.stderr.isTTY ? undefined : ora('laying the ground').start();
  let done = 0;

  const line = (text: string) => {
    const at = ((performance.now() - began) / 1_000).toFixed(1).padStart(6);
    spinner?.clear();
    console.error(`${at}s  ${text}`);
    spinner?.render();
  };
  const refresh = () => {
    if (spinner) spinner.text = `${done} of ${total} done; now ${[...running].join(', ')}`;
  };

  return {
    say: line,
    hooks: {
      onStart(job: Job) {
        running.add(nameOf(job));
        if (slow) line(`--- ${nameOf(job)}: ${job.scenario.claim}`);
        refresh();
      },
      onEnd(job: Job, result: Result) {
        running.delete(nameOf(job));
        done += 1;
        const verdict = result.outcome ? verdictInWords(result.outcome) : 'no outcome';
        const mark = asExpected(result) && result.error === undefined ? 'ok   ' : 'WRONG';
        const took = `${(result.tookMs / 1_000).toFixed(1)} s`;
        line(`${mark} ${done}/${total}  ${nameOf(job)}: ${verdict}, ${took}`);
        if (result.error !== undefined) line(`      ${result.error}`);
        refresh();
      },
      async say(_job: Job, text: string) {
        if (!slow) return;
        line(text);
        await pause();
      },
    },
    end: () => spinner?.stop(),
  };
}

async function pause(): Promise<void> {
  if (!process.stdin.isTTY) return sleep(SLOW_STEP_MS);
  const keyboard = createInterface({ input: process.stdin, output: process.stderr });
  await keyboard.question('        (Enter to go on) ');
  keyboard.close();
}
