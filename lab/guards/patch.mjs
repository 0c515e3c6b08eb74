// Loaded into a broken worker by `--import`: changes the source of single modules as Node reads them.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../stack/runtime.mjs';

/** @type {{ file: string, replace: string, by: string }[]} */
const patches = JSON.parse(process.env.Q2T_LAB_PATCHES ?? '[]');

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const mine = patches.filter(({ file }) => url === fileUrl(file));
    if (mine.length === 0 || loaded.source === null || loaded.source === undefined) return loaded;
    let source = Buffer.from(loaded.source).toString();
    for (const { file, replace, by } of mine) {
      if (source.split(replace).length !== 2) {
        throw new Error(`the lab's patch does not fit the source of ${file}`);
      }
      source = source.replace(replace, () => by);
    }
    return { ...loaded, source };
  },
});

/** @param {string} file */
function fileUrl(file) {
  return new URL(file, pathToFileURL(projectRoot)).href;
}
