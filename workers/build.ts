import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';

/**
 * Bundles the workflows into dist/workflows.js (or the path given), so that workers start without
 * doing it. A warning is an error: an activity imported by value, or a built-in, only warns.
 */
const target = process.argv[2] ?? fileURLToPath(new URL('../dist/workflows.js', import.meta.url));

const warnings: string[] = [];
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
  logger: new DefaultLogger('WARN', ({ message }) => warnings.push(message)),
});
if (warnings.length > 0) {
  console.error(warnings.join('\n'));
  process.exit(1);
}
await mkdir(dirname(target), { recursive: true });
await writeFile(target, code);
console.log(`${target}: ${code.length} bytes`);
