import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

const OUTPUT_KEPT = 8_000;
const TERMINAL_TICK_MS = 1_000;
const LOG_TICK_MS = 10_000;

/** One line for the person in front of it. Standard error, so that a task's own output stays clean. */
export function say(line) {
  writeSync(2, `${line}\n`);
}

/**
 * Runs a command that may take minutes and shows that it is alive: a counting line on a terminal, a
 * line every ten seconds in a log. Its output is kept back and shown only when it fails.
 * Returns what it printed; throws an Error with the end of it when it fails or `timeoutMs` passes.
 */
export async function runWithProgress(label, file, args, { timeoutMs, ...options } = {}) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const onTerminal = process.stderr.isTTY === true;
  const paint = () => {
    if (onTerminal) writeSync(2, `\r${label} … ${seconds()} s`);
    else if (seconds() > 0) say(`${label} … ${seconds()} s`);
  };
  if (!onTerminal) say(`${label} …`);
  paint();
  const ticker = setInterval(paint, onTerminal ? TERMINAL_TICK_MS : LOG_TICK_MS);
  try {
    const output = await run(file, args, { ...options, timeout: timeoutMs });
    if (onTerminal) writeSync(2, '\r');
    say(`${label} … done in ${seconds()} s`);
    return output;
  } catch (error) {
    if (onTerminal) writeSync(2, '\n');
    throw error;
  } finally {
    clearInterval(ticker);
  }
}

function run(file, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk) => (output = (output + chunk).slice(-OUTPUT_KEPT));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => reject(new Error(`${file} can't be run: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      reject(new Error(`${[file, ...args].join(' ')} ended ${how}\n${output.trimEnd()}`));
    });
  });
}
