import { pino } from 'pino';
import { z } from 'zod';
import { startPartners } from '../partners/server/server.ts';
import { readSettings } from './settings.ts';

/**
 * The partners as a process. PARTNERS_PORT (0: a free one), PARTNERS_HOST (127.0.0.1) and
 * PARTNERS_STATE_FILE (none: nothing survives) configure it. Prints one line {"msg":"ready","url":…}
 * when it listens; SIGTERM and SIGINT stop it.
 */
const environment = z.object({
  PARTNERS_PORT: z.coerce
    .number('must be a port: 0 (any free one) to 65535')
    .int()
    .min(0)
    .max(65_535)
    .default(0),
  PARTNERS_HOST: z.string().min(1).default('127.0.0.1'),
  PARTNERS_STATE_FILE: z.string().min(1).optional(),
});

const logger = pino();
const settings = readSettings(environment, logger);
const { PARTNERS_PORT: port, PARTNERS_HOST: host, PARTNERS_STATE_FILE: stateFile } = settings;

const partners = await startPartners({ port, host, logger, ...(stateFile && { stateFile }) });
logger.info({ url: partners.url }, 'ready');

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    logger.info({ signal }, 'closing');
    void partners.close();
  });
}
