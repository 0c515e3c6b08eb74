import { isDeepStrictEqual } from 'node:util';
import type { Edit } from '../../../replay/changes/change.ts';
import type { Trial, Verdict } from '../../../replay/rules/rule.ts';
import { countOutcomes } from '../../../replay/rules/rule.ts';
import { withoutGuard } from '../../guards/guard.ts';
import type { Outcome } from '../../scenario.ts';

export type SeenVerdict = Verdict<string> & { past?: Verdict<string> };

/** What came of each edit, by the rule's name. */
export type Seen = ReadonlyMap<string, SeenVerdict>;

/** What the table says of the edits of one side. */
export type Table = ReadonlyMap<string, Trial<string>>;

/** Where what was seen is not what the table says, one sentence each. */
export function differences(table: Table, seen: Seen): string[] {
  return [...table].flatMap(([name, { outcome, says, past }]) => {
    const expected = { outcome, says, ...(past && { past }) };
    const found = seen.get(name);
    if (isDeepStrictEqual(found, expected)) return [];
    return [
      `${name}: the table says ${JSON.stringify(expected)}, seen was ${JSON.stringify(found)}`,
    ];
  });
}

/** Held when everything came to what the table says; broke with what did not. */
export function judge(table: Table, seen: Seen): Outcome {
  // In the table's order: they are seen in the order in which they are done.
  const inOrder = [...table.keys()].flatMap((name) => seen.get(name) ?? []);
  const counted = { edits: table.size, ...countOutcomes(inOrder) };
  const wrong = differences(table, seen);
  if (wrong.length > 0) return { verdict: 'broke', how: wrong.join('; '), counted };
  return { verdict: 'held', counted };
}

/** Environment for a worker whose source has the edits, as it loads. */
export function patchesOf(edits: readonly Edit[]): NodeJS.ProcessEnv {
  const patches = edits.map(({ file, from, to }) => ({ file, replace: from, by: to }));
  return withoutGuard({ name: 'nothing', patches });
}
