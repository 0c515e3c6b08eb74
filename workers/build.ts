import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';

/**
 * Bundles the workflows into dist/workflows.js (or the path given), so that workers start without
 * doing it; those of another stage of a change when their index.ts is given after the path. A warning is an error: an activity imported by value, or a built-in, only warns.
 */
const target = process.argv[2] ?? fileURLToPath(new URL('../dist/workflows.js', import.meta.url));
const entry = process.argv[3] ?? fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

const warnings: string[] = [];
const { code } = await bundleWorkflowCode({
  workflowsPath: resolve(entry),
  logger: new DefaultLogger('WARN', ({ message }) => warnings.push(message)),
});
if (warnings.length > 0) {
  console.error(warnings.join('\n'));
  process.exit(1);
}
await mkdir(dirname(target), { recursive: true });
await writeFile(target, code);
console.log(`${target}: ${code.length} bytes`);
