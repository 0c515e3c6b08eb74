#!/usr/bin/env node
// Plain JavaScript that runs on any Node from 18: it goes on under a Node that runs TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNode, MINIMUM_NODE, NODE_FLAGS, stateDir } from '../stack/runtime.mjs';

const node = findNode();
const isThisOne = node?.path === process.execPath;
// Node 22 warns of TypeScript on stderr unless it is started with these flags; from 24 on it doesn't.
const isQuiet =
  Number.parseInt(process.versions.node) >= 24 ||
  NODE_FLAGS.every((flag) => process.execArgv.includes(flag));

if (!existsSync(new URL('../node_modules/commander', import.meta.url))) {
  stop('The packages are not installed yet: `npm run up` installs them and starts everything.');
} else if (node === undefined) {
  stop(
    `This is Node ${process.versions.node}, and q2t needs ${MINIMUM_NODE} or later: ` +
      '`npm run up` brings one for this project alone.',
  );
} else if (isThisOne && isQuiet) {
  // Half of a short command's time is compiling the SDK and stripping types: from 1.1 to 0.6 s of CPU.
  module.enableCompileCache(join(stateDir, 'cache', 'compile'));
  await import('./q2t.ts');
} else goOnUnder(node.path);

function stop(message) {
  console.error(`q2t: ${message}`);
  process.exitCode = 1;
}

function goOnUnder(path) {
  const script = fileURLToPath(import.meta.url);
  const child = spawn(path, [...NODE_FLAGS, script, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  // Ctrl-C reaches the child by itself; this process must only outlive it to pass its end on.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => stop(`${path} can't be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
