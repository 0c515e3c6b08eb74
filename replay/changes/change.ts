import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { projectRoot, stateDir } from '../../stack/runtime.mjs';

/** A change of the workflows' source, as one might ship it. */
export interface Change {
  name: string;
  edits: readonly Edit[];
}

export interface Edit {
  /** Inside the project: `workflows/price.ts`. */
  file: string;
  /** Must be there exactly once. */
  from: string;
  to: string;
}

/** A copy of what a bundle of the workflows is made of, to be changed and bundled again and again. */
export interface Copy {
  /** The bundle of the copy with the change, which is taken back after. Throws when an edit does not fit. */
  bundleWith(change: Change): Promise<WorkflowBundle>;
  remove(): Promise<void>;
}

/** Copies the sources to a folder of their own inside the project, where the packages are found. */
export async function copySources(): Promise<Copy> {
  await mkdir(stateDir, { recursive: true });
  const root = await mkdtemp(join(stateDir, 'changed-'));
  for (const folder of ['workflows', 'core']) {
    await cp(join(projectRoot, folder), join(root, folder), { recursive: true });
  }
  return {
    async bundleWith({ name, edits }) {
      const texts = await editedTexts(name, edits);
      try {
        for (const [file, text] of texts) await writeFile(join(root, file), text);
        return await bundleWorkflowCode({
          workflowsPath: join(root, 'workflows', 'index.ts'),
          logger: new DefaultLogger('ERROR'),
        });
      } finally {
        for (const file of texts.keys()) await cp(join(projectRoot, file), join(root, file));
      }
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** The text of every file that the edits touch, with them. */
export async function editedTexts(
  name: string,
  edits: readonly Edit[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const edit of edits) {
    const { file } = edit;
    const before = texts.get(file) ?? (await readFile(join(projectRoot, file), 'utf8'));
    texts.set(file, edited(name, edit, before));
  }
  return texts;
}

/** The source with the edit. Throws when its text is not there exactly once. */
function edited(name: string, { file, from, to }: Edit, source: string): string {
  const times = source.split(from).length - 1;
  if (times === 1) return source.replace(from, () => to);
  throw new Error(
    `"${name}" does not fit ${file} any more: its text is there ${times} times\n${from}`,
  );
}
