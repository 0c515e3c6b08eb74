import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** A folder for one test, deleted when it ends. */
export async function tempDir(t: Pick<TestContext, 'after'>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'q2t-stack-test-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

/** An executable shell script. */
export async function writeScript(path: string, body: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
}
