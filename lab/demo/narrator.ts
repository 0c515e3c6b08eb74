/** Tells what happens, one line each, with the seconds since the beginning. Plain text, so that it reads the same in a log. */
export class Narrator {
  readonly #began = performance.now();

  get elapsedMs(): number {
    return performance.now() - this.#began;
  }

  say(text: string): void {
    console.log(`${(this.elapsedMs / 1_000).toFixed(1).padStart(6)}s  ${text}`);
  }
}
