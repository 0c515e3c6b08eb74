import { text } from './text.ts';

/** More changes than this are a new order; the JSON document has them all. */
const MAX_SHOWN = 40;

/**
 * What differs between two orders given as JSON, one path a line: `- before` and `+ after`. Text
 * that is no JSON (an implementation may keep only what differs) is shown as it is.
 */
export function changeLines(before: string, after: string): string[] {
  const old = leaves(before);
  const fixed = leaves(after);
  const paths = [...new Set([...old.keys(), ...fixed.keys()])].filter(
    (path) => old.get(path) !== fixed.get(path),
  );
  if (paths.length === 0) return ['  nothing changed'];
  const lines = paths
    .slice(0, MAX_SHOWN)
    .flatMap((path) => [
      ...(old.has(path) ? [text`  - ${path}${old.get(path)}`] : []),
      ...(fixed.has(path) ? [text`  + ${path}${fixed.get(path)}`] : []),
    ]);
  if (paths.length > MAX_SHOWN) lines.push(`  and ${paths.length - MAX_SHOWN} more changes`);
  return lines;
}

function leaves(json: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) {
      found.set(path === '' ? '' : `${path} `, JSON.stringify(value));
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      walk(child, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    }
  };
  try {
    walk(JSON.parse(json), '');
  } catch {
    found.set('', json);
  }
  return found;
}
