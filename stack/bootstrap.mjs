// Starts a task on a machine that may have nothing but some Node from 18 on, npm and Python: brings a
// Node that can run the project, the npm packages and the Temporal binary, then becomes the task.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isolatedEnv } from '../client/isolated-env.mjs';
import { becomeCommand, runCommand } from './exec.mjs';
import { ensurePackages } from './packages.mjs';
import { say } from './progress.mjs';
import { NODE_FLAGS, ensureNode, projectRoot, stateDir, underNode } from './runtime.mjs';
import { tasks } from './tasks.mjs';

const [name = '', ...args] = process.argv.slice(2);
const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
if (task) {
  try {
    process.exitCode = await perform(task);
  } catch (error) {
    say(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
} else {
  say(`Usage: node stack/bootstrap.mjs ${Object.keys(tasks).join('|')} [ARGUMENT…]`);
  process.exitCode = 2;
}

async function perform(task) {
  const node = await ensureNode(task.node);
  const env = underNode(node, task.isolated ? isolatedEnv(process.env) : process.env);
  if (node.path !== process.execPath) {
    // Everything from here on may use today's JavaScript, TypeScript included.
    const self = [join(projectRoot, 'stack', 'bootstrap.mjs'), name, ...args];
    return becomeCommand(node.path, self, { env: underNode(node) });
  }
  if (task.packages !== false) await ensurePackages(node);
  if (task.temporal) await ensureTemporalBinary();
  const commands = task.commands.map((command) => [...NODE_FLAGS, ...command, ...argsOf(task)]);
  if (commands.length === 1) return becomeCommand(node.path, commands[0], { env });
  let exitCode = 0;
  for (const command of commands) {
    const code = await runCommand(node.path, command, { env });
    if (exitCode === 0) exitCode = code;
  }
  return exitCode;
}

function argsOf(task) {
  const given = args.some((arg) => !arg.startsWith('-'));
  return given ? args : [...args, ...(task.defaultArgs ?? [])];
}

async function ensureTemporalBinary() {
  // Loading the search for it costs more than the look whether it was found before.
  const { CACHE_NAME } = await import('./temporal-pin.mjs');
  if (existsSync(join(stateDir, 'cache', CACHE_NAME))) return;
  const { ensureTemporal } = await import('./temporal-binary.ts');
  await ensureTemporal();
}
