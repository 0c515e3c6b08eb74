import type { Logger } from 'pino';
import { z } from 'zod';

/** This process's environment as settings. A bad one is logged with every fault named and ends the process with 2. */
export function readSettings<T extends z.ZodType>(environment: T, log: Logger): z.output<T> {
  const parsed = environment.safeParse(process.env);
  if (parsed.success) return parsed.data;
  log.fatal(z.prettifyError(parsed.error));
  process.exit(2);
}
