import type { Commit, Statement } from './session.ts';
import { labelOf } from './sql.ts';

/** Finds the run a statement is about. */
export type RunOf = (statement: Statement) => string | undefined;

// core's `runIdOf`: both parts are percent-encoded, so neither has a slash or a quote in it.
const RUN = /\border\/[\w%.!~*()-]+\/[\w%.!~*()-]+/;

/** The first run id in a statement's parameters, its text or the rows it returned. */
export const runInStatement: RunOf = ({ params, text, results }) => {
  for (const value of [...params, text, ...results]) {
    const found = value === null ? undefined : RUN.exec(value)?.[0];
    if (found !== undefined) return found;
  }
  return undefined;
};

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
