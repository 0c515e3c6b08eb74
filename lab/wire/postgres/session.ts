import { readBind, readClose, readParse, readRow, readText } from './messages.ts';
import type { Piece } from './messages.ts';
import { classify, wrote } from './sql.ts';

export interface Statement {
  /** The name it was prepared under; empty when none. */
  name: string;
  text: string;
  /** As text; null for NULL and for binary ones. */
  params: (string | null)[];
  /** The values of the first rows it returned, as text. */
  results: string[];
}

/** Something that became durable, or will when its message is passed on. */
export interface Commit {
  /** The statements that wrote. */
  writes: Statement[];
  /** Every statement of the transaction, reads as well: one of them names the run. */
  statements: Statement[];
  /** Those of the last round trip, whose rows were not known when it was sent. */
  latest: Statement[];
}

/** What the client sent up to one ReadyForQuery. */
interface Cycle {
  statements: Statement[];
  /** The one whose answer is being read. */
  answering: number;
  /** A simple query's text may hold several statements, so one answer after the other is its. */
  simple: boolean;
  /** Query or Sync has been sent: a ReadyForQuery will come without more from the client. */
  closed: boolean;
  failed: boolean;
  rolledBack: boolean;
}

const MAX_RESULTS = 200;
const MAX_STATEMENTS = 1_000;

/**
 * Follows one connection from the outside: which statements run, whether a transaction is open, what
 * has been written in it. Feed it every piece of both directions in order.
 */
export class Session {
  readonly #prepared = new Map<string, { name: string; text: string }>();
  readonly #portals = new Map<string, Statement>();
  readonly #cycles: Cycle[] = [];
  #status = 'I';
  #statements: Statement[] = [];
  #writes: Statement[] = [];
  /** Committed in the middle of a simple query that holds several statements. */
  #committed: Statement[] = [];
  #settled = Promise.withResolvers<void>();

  /** Resolves when everything the client has asked for has been answered. */
  async settled(): Promise<void> {
    while (this.#cycles.some(({ closed }) => closed)) await this.#settled.promise;
  }

  /** Sends home whoever waits for `settled`. */
  end(): void {
    this.#cycles.length = 0;
    this.#settled.resolve();
  }

  /** Takes a piece from the client; returns what it will commit when it is passed on, if it will. */
  fromClient({ type, body }: Piece): Commit | undefined {
    switch (type) {
      case 'Q':
        return this.#run({ name: '', text: readText(body), params: [], results: [] }, true);
      case 'P': {
        const parsed = readParse(body);
        this.#prepared.set(parsed.name, parsed);
        return undefined;
      }
      case 'B': {
        const { portal, statement, params } = readBind(body);
        const prepared = this.#prepared.get(statement) ?? { name: statement, text: '' };
        this.#portals.set(portal, { ...prepared, params, results: [] });
        return undefined;
      }
      case 'E': {
        const statement = this.#portals.get(readText(body));
        return statement === undefined ? undefined : this.#run(statement, false);
      }
      case 'C': {
        const { kind, name } = readClose(body);
        (kind === 'S' ? this.#prepared : this.#portals).delete(name);
        return undefined;
      }
      case 'S':
      case 'F':
        this.#open(false).closed = true;
        return undefined;
      default:
        return undefined;
    }
  }

  /** Takes a piece from the server; returns what has just become durable, if something has. */
  fromServer({ type, body }: Piece): Commit | undefined {
    const cycle = this.#cycles[0];
    const statement = cycle?.statements[cycle.answering];
    if (cycle !== undefined) {
      if (type === 'C' && statement !== undefined) this.#complete(cycle, statement, readText(body));
      if (type === 'E') cycle.failed = true;
      if (type === 'D' && statement !== undefined && statement.results.length < MAX_RESULTS)
        statement.results.push(...readRow(body));
      if (['C', 's', 'I'].includes(type) && !cycle.simple) cycle.answering += 1;
    }
    return type === 'Z' ? this.#ready(body.toString('latin1', 0, 1)) : undefined;
  }

  /** Whether this piece says that a statement is done, with the ReadyForQuery still to come. */
  isEarlyAnswer({ type }: Piece): boolean {
    return type === 'C' && this.#cycles[0]?.closed === true;
  }

  #open(simple: boolean): Cycle {
    const last = this.#cycles.at(-1);
    if (last !== undefined && !last.closed) return last;
    const cycle = {
      statements: [],
      answering: 0,
      simple,
      closed: false,
      failed: false,
      rolledBack: false,
    };
    this.#cycles.push(cycle);
    return cycle;
  }

  #run(statement: Statement, simple: boolean): Commit | undefined {
    const cycle = this.#open(simple);
    const earlier = cycle.statements.filter(({ text }) => classify(text).writes.length > 0);
    cycle.statements.push(statement);
    cycle.closed = simple;
    if (this.#statements.length < MAX_STATEMENTS) this.#statements.push(statement);
    const { writes, begins, commits } = classify(statement.text);
    const now = writes.length > 0 ? [statement] : [];
    const inTransaction = this.#status === 'T';
    const all = inTransaction ? [...this.#writes, ...now] : [...earlier, ...now];
    const durable = inTransaction ? commits : now.length > 0 && (!begins || commits);
    if (this.#status === 'E' || !durable || all.length === 0) return undefined;
    return { writes: all, statements: [...this.#statements], latest: cycle.statements };
  }

  #complete(cycle: Cycle, statement: Statement, tag: string): void {
    if (tag === 'COMMIT') this.#committed.push(...this.#writes.splice(0));
    else if (tag === 'ROLLBACK') cycle.rolledBack = true;
    else if (wrote(tag, statement.text)) this.#writes.push(statement);
  }

  #ready(status: string): Commit | undefined {
    const cycle = this.#cycles.shift();
    this.#status = status;
    this.#settled.resolve();
    this.#settled = Promise.withResolvers();
    // Still in a transaction; a ROLLBACK in it went to a savepoint only.
    if (status !== 'I') return undefined;
    const undone = cycle === undefined || cycle.failed || cycle.rolledBack;
    const writes = [...this.#committed, ...(undone ? [] : this.#writes)];
    const statements = this.#statements;
    this.#statements = [];
    this.#writes = [];
    this.#committed = [];
    return writes.length === 0
      ? undefined
      : { writes, statements, latest: cycle?.statements ?? [] };
  }
}
