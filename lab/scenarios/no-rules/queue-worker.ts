import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { z } from 'zod';
import * as original from '../../../queue/steps/pipelines.ts';
import { startWorker } from '../../../queue/worker/start.ts';

/**
 * A worker of the queue with several versions of the pipeline, each from a changed copy of the steps or
 * as it is here. Prints {"msg":"ready"}; SIGTERM hands back its runs.
 */
const environment = z.object({
  DATABASE_URL: z.string(),
  PARTNERS_URL: z.string(),
  Q2T_VISIBILITY_MS: z.coerce.number(),
  /** By the name of the version: the folder whose `queue/steps` it is, or the version of the code that it is. */
  Q2T_LAB_VERSIONS: z.record(
    z.string(),
    z.union([z.object({ folder: z.string() }), z.object({ version: z.string() })]),
  ),
});
const { Q2T_LAB_VERSIONS: versionsAsText = '{}', ...rest } = process.env;
const asked: unknown = JSON.parse(versionsAsText);
const settings = environment.parse({ ...rest, Q2T_LAB_VERSIONS: asked });

const versions = await Promise.all(
  Object.entries(settings.Q2T_LAB_VERSIONS).map(async ([name, from]) => {
    if ('version' in from)
      return [name, original.pipelinesFor([from.version]).of(from.version)] as const;
    const file = pathToFileURL(join(from.folder, 'queue/steps/pipelines.ts')).href;
    // A copy of that very module, with other text inside its functions.
    const copy = (await import(file)) as typeof original;
    return [name, copy.pipelinesFor(['2']).of('2')] as const;
  }),
);

const log = pino();
const worker = await startWorker({
  databaseUrl: settings.DATABASE_URL,
  partnersUrl: settings.PARTNERS_URL,
  log,
  visibilityMs: settings.Q2T_VISIBILITY_MS,
  pipelines: original.pipelinesOf(new Map(versions)),
  orders: 8,
  lines: 1,
  mails: 2,
  timerEveryMs: 500,
  housekeepingEveryMs: 0,
});
log.info('ready');
process.once('SIGTERM', () => void worker.stop());
