import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch, type Child, type Launch } from './launch.ts';
import { rememberProcess, stopLeftBehind } from './left-behind.ts';
import { readyFieldsOf, untilReady, type Readiness } from './readiness.ts';

/** How a process ended that nobody had asked to. */
export interface Death {
  name: string;
  /** `with code 1`, `by SIGKILL`, or why it could not be started again. */
  how: string;
  /** The end of what it printed. */
  logTail: string;
  willRestart: boolean;
}

/** What a stack gives to each of its parts. */
export interface PartOptions {
  /** Holds the part's data, its log and its pid file. Made when missing. */
  dataDir: string;
  /** Start it again when it dies unasked, a few times. Default false. */
  restart?: boolean;
  onDeath?: (death: Death) => void;
  /** Called before the process is started; it isn't when this throws. */
  onStart?: (process: SupervisedProcess) => void;
}

export interface ProcessSpec extends Launch, Omit<PartOptions, 'dataDir'> {
  name: string;
  /** Remembers the process, for a later start to clean up when this parent is killed. */
  pidFile: string;
  readiness: Readiness;
  /** Default 30 s. */
  readyLimitMs?: number;
  /** SIGKILL follows a stop when it has not ended by then. Default 15 s. */
  stopLimitMs?: number;
  /** Before the first restart; doubles with each. Default 500 ms. */
  restartDelayMs?: number;
}

const READY_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;
const TAIL_LINES = 40;
const TAIL_LINE_LENGTH = 2_000;
const MAX_RESTARTS = 5;
const RESTART_DELAY_MS = 500;
/** Restarts further apart than this don't add up. */
const RESTART_MEMORY_MS = 60_000;

/** Somebody called `stop` before the process was ready. */
class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** One supervised child process, which can be killed and started again by its handle. */
export class SupervisedProcess {
  readonly name: string;
  readonly #spec: ProcessSpec;
  #state: 'stopped' | 'starting' | 'running' | 'restarting' = 'stopped';
  #child: Child | undefined;
  #ended: Promise<void> = Promise.resolve();
  #tail: string[] = [];
  #readyFields: Record<string, unknown> = {};
  #restarts = 0;
  #startedAt = 0;

  constructor(spec: ProcessSpec) {
    this.#spec = spec;
    this.name = spec.name;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get running(): boolean {
    return this.#state === 'running';
  }

  /** What came with its ready line. */
  get readyFields(): Readonly<Record<string, unknown>> {
    return this.#readyFields;
  }

  /** The end of what it has printed; all of it is in its log file. */
  get logTail(): string {
    return this.#tail.join('\n');
  }

  /** Starts it and waits until it is ready. Throws with the end of its log when that takes too long or it ends. */
  async start(): Promise<void> {
    if (this.#child) throw new Error(`${this.name} is running already`);
    this.#spec.onStart?.(this);
    this.#state = 'starting';
    try {
      await stopLeftBehind(this.#spec.pidFile, this.#spec.stopSignal, this.#stopLimitMs);
      await this.#spawn();
      this.#state = 'running';
    } catch (error) {
      const wasStopped = !this.#isStill('starting');
      await this.kill();
      if (wasStopped) throw new StoppedError(`${this.name} was stopped while it started`);
      const reason = error instanceof Error ? error.message : String(error);
      const log = this.logTail === '' ? '(it printed nothing)' : this.logTail;
      throw new Error(`${this.name} did not start: ${reason}\n${log}`, { cause: error });
    }
  }

  /** Asks it to end and waits; forces it after the limit. Nothing to do when it is not running. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    const child = this.#child;
    if (!child) return;
    const force = setTimeout(() => child.kill('SIGKILL'), this.#stopLimitMs);
    child.kill(this.#spec.stopSignal);
    // A process held by SIGSTOP would otherwise hear of it only at the limit.
    child.kill('SIGCONT');
    await this.#ended;
    clearTimeout(force);
  }

  /** SIGKILL, and waits until it is gone. `start()` brings it back. */
  async kill(): Promise<void> {
    this.#state = 'stopped';
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  /** Sends a signal: SIGSTOP makes a zombie of a worker, SIGCONT wakes it. */
  signal(signal: NodeJS.Signals): void {
    if (!this.#child) throw new Error(`${this.name} is not running`);
    this.#child.kill(signal);
  }

  get #stopLimitMs(): number {
    return this.#spec.stopLimitMs ?? STOP_LIMIT_MS;
  }

  /** Through a call, since the compiler can't know that the state changes during an `await`. */
  #isStill(state: 'starting' | 'restarting'): boolean {
    return this.#state === state;
  }

  async #spawn(): Promise<void> {
    this.#tail = [];
    this.#readyFields = {};
    this.#startedAt = Date.now();
    const child = await launch(this.#spec);
    this.#child = child;
    this.#ended = child.ended.then((how) => {
      this.#afterEnd(how);
    });
    // Whoever called `stop` during the launch believes that nothing runs: `start` ends it again.
    if (!this.#isStill('starting')) throw new StoppedError();
    rememberProcess(this.#spec.pidFile, child.pid);
    const lineSeen = Promise.withResolvers<void>();
    this.#readLines(child, lineSeen.resolve);
    const limit = this.#spec.readyLimitMs ?? READY_LIMIT_MS;
    await untilReady(this.#spec.readiness, {
      limit,
      lineSeen: lineSeen.promise,
      ended: child.ended,
    });
  }

  #readLines(child: Child, ready: () => void): void {
    for (const input of child.outputs) {
      createInterface({ input, crlfDelay: Infinity }).on('line', (line) => {
        this.#tail.push(line.slice(0, TAIL_LINE_LENGTH));
        if (this.#tail.length > TAIL_LINES) this.#tail.shift();
        const fields = readyFieldsOf(line);
        if (!fields) return;
        this.#readyFields = fields;
        ready();
      });
    }
  }

  #afterEnd(how: string): void {
    rmSync(this.#spec.pidFile, { force: true });
    this.#child = undefined;
    if (this.#state !== 'running') return;
    if (Date.now() - this.#startedAt > RESTART_MEMORY_MS) this.#restarts = 0;
    const willRestart = this.#report(how);
    if (willRestart) void this.#startAgain();
  }

  #report(how: string): boolean {
    const willRestart = this.#spec.restart === true && this.#restarts < MAX_RESTARTS;
    this.#state = willRestart ? 'restarting' : 'stopped';
    this.#spec.onDeath?.({ name: this.name, how, logTail: this.logTail, willRestart });
    return willRestart;
  }

  async #startAgain(): Promise<void> {
    do {
      await sleep((this.#spec.restartDelayMs ?? RESTART_DELAY_MS) * 2 ** this.#restarts++);
      if (!this.#isStill('restarting')) return;
      try {
        await this.start();
        return;
      } catch (error) {
        if (error instanceof StoppedError) return;
        if (!this.#report(error instanceof Error ? error.message : String(error))) return;
      }
    } while (this.#isStill('restarting'));
  }
}
