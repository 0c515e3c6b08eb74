/** What a text says it does, without asking the server. */
export interface Classified {
  /** `insert into ledger`, one for each table it writes, in the order of the text. */
  writes: string[];
  begins: boolean;
  commits: boolean;
}

// Words inside these are not SQL's own; an identifier in quotes stays.
const NOISE =
  /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|\$([A-Za-z_]\w*|)\$[\s\S]*?\$\1\$|"(?:[^"]|"")*"/g;

// `FOR UPDATE`, `FOR NO KEY UPDATE`, `ON CONFLICT DO UPDATE` and `ON UPDATE CASCADE` write nothing themselves.
const WRITE =
  /\b(?:(insert into|delete from|merge into|truncate(?: table)?|(?<!\b(?:for|key|do|on) )update)(?: only)? ([\w."]+)|copy ([\w."]+)(?: ?\([^)]*\))? from\b)/g;

const DEFINITION = /^(?:create|alter|drop|grant|revoke|comment|refresh|reindex|do|call)\b/;

const known = new Map<string, Classified>();
const MAX_KNOWN = 2_000;

/**
 * Reads a text, of one statement or several. A write hidden in a function that a SELECT calls is not
 * seen: the queue keeps its SQL in full view.
 */
export function classify(text: string): Classified {
  const before = known.get(text);
  if (before !== undefined) return before;
  if (known.size >= MAX_KNOWN) known.clear();
  const classified = read(text);
  known.set(text, classified);
  return classified;
}

function read(text: string): Classified {
  const plain = text
    .replace(NOISE, (noise) => (noise.startsWith('"') ? noise : noise.startsWith("'") ? "''" : ' '))
    .replace(/\s+/g, ' ')
    .toLowerCase();
  const statements = plain.split(';').map((each) => each.trim());
  return {
    writes: [...new Set(statements.flatMap(writesOf))],
    begins: statements.some((each) => /^(?:begin|start transaction)\b/.test(each)),
    commits: statements.some((each) => /^(?:commit|end)\b/.test(each)),
  };
}

function writesOf(statement: string): string[] {
  if (DEFINITION.test(statement)) return [statement.split(' ').slice(0, 3).join(' ')];
  return [...statement.matchAll(WRITE)].map(([, verb, table, copied]) =>
    copied === undefined ? `${verb} ${table}` : `copy ${copied}`,
  );
}

/**
 * What to call a statement: the name it was prepared under, a `-- name: …` in its text, or what it
 * writes.
 */
export function labelOf(statement: { name: string; text: string }): string {
  if (statement.name !== '') return statement.name;
  const given = /(?:--|\/\*)\s*name:\s*([\w.-]+)/.exec(statement.text)?.[1];
  if (given !== undefined) return given;
  const { writes } = classify(statement.text);
  return writes.length > 0 ? writes.join(', ') : statement.text.trim().split(/\s+/, 3).join(' ');
}

/**
 * Whether a finished statement wrote, by its command tag (`INSERT 0 3`) and its text. A statement with
 * one write and no row found nothing to do (a poll); with several, the tag counts only the last.
 */
export function wrote(tag: string, text: string): boolean {
  const [verb = '', ...rest] = tag.split(' ');
  const nothing = rest.length > 0 && rest.at(-1) === '0';
  const { writes } = classify(text);
  if (nothing) return writes.length > 1;
  // By its tag alone, since the text may be `EXECUTE something`.
  return ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(verb) || writes.length > 0;
}
