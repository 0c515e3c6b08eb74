import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../stack/runtime.mjs';

const PAGE = join(projectRoot, 'docs', 'alerts.md');

/** The alerts of docs/alerts.md that such a line sets off, by name. Throws when the page has none. */
export async function alertsOn(line: string): Promise<string[]> {
  const rows = (await readFile(PAGE, 'utf8')).matchAll(/^\| ([a-z ]+?) +\| `([^`]+)` +\|/gm);
  const alerts = [...rows].map(([, name = '', text = '']) => ({ name, text }));
  if (alerts.length === 0) throw new Error(`no alert in ${PAGE}`);
  return alerts.filter(({ text }) => new RegExp(text).test(line)).map(({ name }) => name);
}

/** The query of docs/alerts.md that finds runs which stand still. */
export async function stalledQuery(): Promise<string> {
  const query = /--query "([^"]+)"/.exec(await readFile(PAGE, 'utf8'))?.[1];
  if (query === undefined) throw new Error(`no query in ${PAGE}`);
  return query;
}
