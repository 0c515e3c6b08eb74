import { writeFile } from 'node:fs/promises';
import ora from 'ora';
import { IMPLEMENTATIONS, type Implementation } from '../../../core/contract.ts';
import { openStage } from '../../running/stage.ts';
import { Ground } from '../../world/ground.ts';
import { noRules } from '../no-rules.ts';
import { pageOfRules, RULES_PAGE } from './page.ts';
import { differences } from './seen.ts';
import { tableOf, tryAll } from './try.ts';

/**
 * `npm run rules`: tries every edit of the table on every implementation, and writes the page when each
 * came out as the table says. Otherwise prints what did not, writes nothing and exits 1.
 */
const spinner = ora('starting Postgres and Temporal').start();
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stopped.abort(new Error('stopped')));
}
const ground = new Ground();
try {
  await ground.lay();
  const wrong: string[] = [];
  for (const implementation of IMPLEMENTATIONS) {
    const found = await tryOn(implementation);
    wrong.push(...found.map((difference) => `${implementation}: ${difference}`));
  }
  if (wrong.length === 0) await writeFile(RULES_PAGE, await pageOfRules());
  else process.exitCode = 1;
  spinner.stop();
  console.log(wrong.length === 0 ? `written to ${RULES_PAGE}` : wrong.join('\n'));
} catch (error) {
  spinner.stop();
  console.error(error);
  process.exitCode = 1;
} finally {
  await ground.stop();
}

async function tryOn(implementation: Implementation): Promise<string[]> {
  const { stage, clear } = openStage(
    ground,
    { scenario: noRules, implementation },
    {
      size: 'small',
      seed: 1,
      signal: stopped.signal,
      say: async (text) => {
        spinner.text = `${implementation}: ${text}`;
      },
    },
  );
  try {
    return differences(tableOf(implementation), await tryAll(stage));
  } finally {
    await clear();
  }
}
