import type { Readable } from 'node:stream';

/** Where text goes. `columns` only when it is a terminal's. */
interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** What a command reads from and writes to. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdin: Readable;
  stdout: Output;
  stderr: Output;
}

/** That of this process: its own streams and environment. */
export const ownTerminal: Terminal = process;
