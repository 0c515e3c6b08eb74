import type { Edit } from '../changes/change.ts';

/** The edits as a diff of the lines that differ, under the names of their files. */
export function diffOf(edits: readonly Edit[]): string {
  const lines: string[] = [];
  let last = '';
  for (const { file, from, to } of edits) {
    if (file !== last) lines.push(`@@ ${file} @@`);
    last = file;
    const [before, after] = [linesOf(from), linesOf(to)];
    const top = common(before, after);
    const rest = [before.slice(top), after.slice(top)] as const;
    const end = common(rest[0].toReversed(), rest[1].toReversed());
    const cut = (side: string[]) => side.slice(0, side.length - end);
    lines.push(
      ...cut(rest[0]).map((line) => `-${line}`),
      ...cut(rest[1]).map((line) => `+${line}`),
    );
  }
  return lines.join('\n');
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function common(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((line, n) => line !== b[n]);
  return differs === -1 ? a.length : differs;
}
