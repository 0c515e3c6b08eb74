/** What a handler process is asked to do, in its environment as JSON. */
export interface HandlerJob {
  databaseUrl: string;
  partnersUrl: string;
  queue: string;
  visibilityMs: number;
  /** Before the commit, as a callback of the transaction; or when it is committed. */
  mail: 'in the transaction' | 'after the commit';
}

export const HANDLER_TABLES = `
  CREATE TABLE IF NOT EXISTS lab_processed (key text PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS lab_invoice (reference text PRIMARY KEY)`;
