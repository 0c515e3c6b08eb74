import { join } from 'node:path';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { projectRoot } from '../../stack/runtime.mjs';
import { editedTexts, type Edit } from '../changes/change.ts';

/**
 * The project's own rules over the files that the edits touch, except those that need types: a program
 * of all files for each edit would take minutes. Returns what they say, each thing once.
 */
export function openLint(): (name: string, edits: readonly Edit[]) => Promise<string[]> {
  const eslint = new ESLint({
    cwd: projectRoot,
    overrideConfig: [{ files: ['**/*.ts'], ...tseslint.configs.disableTypeChecked }],
  });
  return async (name, edits) => {
    const said = new Set<string>();
    for (const [file, text] of await editedTexts(name, edits)) {
      const [result] = await eslint.lintText(text, { filePath: join(projectRoot, file) });
      for (const { ruleId, message } of result?.messages ?? []) said.add(`${ruleId}: ${message}`);
    }
    return [...said];
  };
}
