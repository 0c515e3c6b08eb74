import { join } from 'node:path';
import type { StackOptions } from '../../stack/options.ts';
import { bundleWorkflows, makeBundle } from '../../stack/parts.ts';
import type { SupervisedProcess } from '../../stack/process.ts';
import { projectRoot } from '../../stack/runtime.mjs';
import { Stack } from '../../stack/stack.ts';

/** What all worlds of one lab run stand on: one Postgres, one Temporal server, one workflow bundle. */
export class Ground {
  readonly stack: Stack;
  /** Those of the worlds, so that nothing of an interrupted one is left. */
  readonly processes = new Set<SupervisedProcess>();
  #bundle: string | undefined;
  readonly #stages = new Map<string, Promise<string>>();
  #stopped = false;

  constructor(options: Pick<StackOptions, 'onProgress' | 'external'> = {}) {
    this.stack = new Stack({ ...options, parts: ['postgres', 'temporal'] });
  }

  async lay(): Promise<void> {
    await this.stack.start();
    this.#bundle = await bundleWorkflows(this.stack.dataDir);
  }

  get bundle(): string {
    if (this.#bundle === undefined) throw new Error('the ground is not laid yet');
    return this.#bundle;
  }

  /** Another stage of the workflows, `replay/stages/before/index.ts`: bundled when it is first asked for. */
  bundleOf(entry: string): Promise<string> {
    const made = this.#stages.get(entry) ?? this.#bundleStage(entry);
    this.#stages.set(entry, made);
    return made;
  }

  async #bundleStage(entry: string): Promise<string> {
    const file = join(this.stack.dataDir, `stage-${this.#stages.size}.js`);
    await makeBundle(file, join(projectRoot, entry));
    return file;
  }

  /** Throws when the ground was stopped meanwhile: nothing may start on it any more. */
  register(process: SupervisedProcess): void {
    if (this.#stopped) throw new Error('the lab was stopped');
    this.processes.add(process);
  }

  /** Ends everything that stands on it, then itself. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.processes].map((process) => process.kill()));
    await this.stack.stop();
  }
}
