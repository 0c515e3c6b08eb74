import type { SpawnOptions } from 'node:child_process';

export function say(line: string): void;
export function runWithProgress(
  label: string,
  file: string,
  args: readonly string[],
  options?: SpawnOptions & { timeoutMs?: number },
): Promise<string>;
