/**
 * JSON with sorted keys and without undefined fields, so that equal content is equal text (and has
 * one hash). Lists keep their order: lines in another order are another order.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) => {
    if (typeof field !== 'object' || field === null || Array.isArray(field)) return field;
    // Code unit order, the same on every machine, which a locale's order is not.
    const entries = Object.entries(field).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return Object.fromEntries(entries);
  });
}
