import type { Effect } from '../contract.ts';
import type { Books } from './books.ts';

/**
 * Takes back what was done and was not taken back yet. `undoIds` are the undos of all of it, the
 * earlier ones included, so that undoing twice answers the same and does nothing more.
 */
export function undoAll(
  books: Books,
  done: Effect[],
  undo: Pick<Effect, 'kind' | 'reference'> & { key?: string },
): { effects: Effect[]; undoIds: string[] } {
  const effects: Effect[] = [];
  const undoIds = done.map(({ id, partner, amount, supplierId }) => {
    const earlier = books.undoOf(id);
    if (earlier) return earlier.id;
    const now = books.draft({
      partner,
      ...undo,
      undoes: id,
      ...(amount && { amount }),
      ...(supplierId !== undefined && { supplierId }),
    });
    effects.push(now);
    return now.id;
  });
  return { effects, undoIds };
}
