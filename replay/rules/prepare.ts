import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { copyWith } from './copies.ts';
import { openLint } from './lint.ts';
import type { Prepared } from './prepared.ts';
import { isOfStepsOnly, labelOf, UNCHANGED } from './rule.ts';
import { rules } from './rules.ts';

/**
 * `node replay/rules/prepare.ts workflows|queue FOLDER`: a process of its own, since bundling and lint
 * keep one busy for seconds. Makes the changed copies in FOLDER, and `prepared.json` by the rules' labels;
 * of the workflows also `bundle.js`, with every edit that can be bundled as a workflow type.
 */
const [, , side, root = ''] = process.argv;
if (side === 'workflows') await prepareWorkflows();
else if (side === 'queue') await prepareQueue();
else throw new Error(`prepare workflows or queue, not ${side}`);

async function prepareWorkflows(): Promise<void> {
  const lint = openLint();
  const prepared: Record<string, Prepared> = {};
  const bundled = [UNCHANGED];
  await copyWith(join(root, UNCHANGED), 'workflows', { name: UNCHANGED, edits: [] });
  for (const rule of rules) {
    const label = labelOf(rule);
    const { edits, outcome, past } = rule.temporal;
    await copyWith(join(root, label), 'workflows', { name: rule.name, edits });
    prepared[label] = { lint: await lint(rule.name, edits) };
    if ((past?.outcome ?? outcome) !== 'refused by the bundler') bundled.push(label);
    // One that is refused would take the bundle of all others with it.
    else prepared[label].bundler = await refusalOf(label);
  }
  const { code } = await bundleOf('all', bundled);
  await writeFile(join(root, 'bundle.js'), code);
  await writeFile(join(root, 'prepared.json'), JSON.stringify(prepared));
}

async function prepareQueue(): Promise<void> {
  const lint = openLint();
  const prepared: Record<string, Prepared> = {};
  for (const rule of rules) {
    const label = labelOf(rule);
    const { edits } = rule.queue;
    if (isOfStepsOnly(rule))
      await copyWith(join(root, label), 'queue/steps', { name: rule.name, edits });
    prepared[label] = { lint: await lint(rule.name, edits) };
  }
  await writeFile(join(root, 'prepared.json'), JSON.stringify(prepared));
}

/** One bundle with the workflow of each of these copies under its label. */
async function bundleOf(name: string, labels: readonly string[]): Promise<WorkflowBundle> {
  const entry = join(root, `${name}.ts`);
  const lines = labels.map(
    (label) =>
      `export { purchaseOrder as ${label} } from './${label}/workflows/purchase-order.ts';\n`,
  );
  // Nobody's order is so large that it has children.
  await writeFile(entry, lines.join(''));
  const said: string[] = [];
  const logger = new DefaultLogger('ERROR', ({ message }) => said.push(message));
  try {
    return await bundleWorkflowCode({ workflowsPath: entry, logger });
  } catch (error) {
    throw new Error(said.join('\n'), { cause: error });
  }
}

async function refusalOf(label: string): Promise<string> {
  try {
    await bundleOf(`${label}-alone`, [label]);
    return '';
  } catch (error) {
    return String(error);
  }
}
