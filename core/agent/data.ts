/**
 * Text that came from outside (a supplier, a person, an earlier part of the run) as a model is shown
 * it: inside a mark that says whose it is. No text can close the mark, since `<` is written as an
 * escape. The mark is a courtesy to the model; what holds is that the program decides.
 */
export function asData(source: string, value: unknown): string {
  return `<data from=${escaped(source)}>${escaped(value)}</data>`;
}

/** The reverse of `asData` for a text that is one mark and nothing else; undefined for any other. */
export function readData(text: string): { source: string; value: unknown } | undefined {
  const found = /^<data from=([^<>]*)>([^<>]*)<\/data>$/.exec(text);
  if (!found) return undefined;
  try {
    const source: unknown = JSON.parse(found[1] ?? '');
    return typeof source === 'string'
      ? { source, value: JSON.parse(found[2] ?? '') as unknown }
      : undefined;
  } catch {
    return undefined;
  }
}

function escaped(value: unknown): string {
  return JSON.stringify(value ?? null)
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e');
}
