import type { Commit, Statement } from './session.ts';
import { labelOf } from './sql.ts';

/** Finds the run a statement is about. */
export type RunOf = (statement: Statement) => string | undefined;

// Identity parts are percent-encoded, so that a slash only stands between them.
const PATH = /[\w%.!~*()-]+(?:\/[\w%.!~*()-]+)+/g;

/**
 * Finds runs by their ids: the first of `known` in a statement's parameters, its text or the rows it
 * returned, also where it only begins a longer key (`acme/PO-1/r1/charge`). The set may grow later.
 */
export function runAmong(known: ReadonlySet<string>): RunOf {
  return ({ params, text, results }) => {
    for (const value of [...params, text, ...results])
      for (const [path] of value?.matchAll(PATH) ?? []) {
        const parts = path.split('/');
        const found = [2, 3].map((n) => parts.slice(0, n).join('/')).find((id) => known.has(id));
        if (found !== undefined) return found;
      }
    return undefined;
  };
}

const REFERENCE = /"orderRef": ?"([^"]+)"/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * Finds runs where no statement has their id, as on the chain: by the order reference in a message's
 * body (`known` says whose run that is), and, for the ack of such a message, by the receipt that its
 * claim returned. The map may grow later.
 */
export function linkAmong(known: ReadonlyMap<string, string>): RunOf {
  const byReceipt = new Map<string, string>();
  const runIn = (body: string) => known.get(REFERENCE.exec(body)?.[1] ?? '');
  return ({ params, results }) => {
    let receipt = '';
    let first: string | undefined;
    for (const value of results) {
      if (UUID.test(value)) receipt = value;
      const run = runIn(value);
      if (run === undefined) continue;
      byReceipt.set(receipt, run);
      first ??= run;
    }
    for (const value of params) {
      if (value === null) continue;
      const run = byReceipt.get(value) ?? runIn(value);
      if (run !== undefined) return run;
    }
    return first;
  };
}

/** For `ignore`: commits in which nothing but these statements wrote, as in a heartbeat. */
export function onlyOf(labels: readonly string[]): (commit: Commit) => boolean {
  return ({ writes }) => writes.every((statement) => labels.includes(labelOf(statement)));
}

export interface CommitName {
  run: string | undefined;
  what: string;
  /** The run was known before the last answer came. */
  foreseen: boolean;
}

/** What to call a commit: its run and the statements that wrote. */
export function nameOf({ writes, statements, latest }: Commit, runOf: RunOf): CommitName {
  const what = [...new Set(writes.map(labelOf))].join(', ');
  const run = firstOf(statements, runOf);
  const asSent = statements.map((each) =>
    latest.includes(each) ? { ...each, results: [] } : each,
  );
  return { run, what, foreseen: firstOf(asSent, runOf) === run };
}

function firstOf(statements: Statement[], runOf: RunOf): string | undefined {
  for (const statement of statements) {
    const run = runOf(statement);
    if (run !== undefined) return run;
  }
  return undefined;
}
