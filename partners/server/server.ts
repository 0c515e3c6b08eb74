import fastify, { type FastifyError } from 'fastify';
import { pino, type Logger } from 'pino';
import { Books } from './books.ts';
import { serveBureau } from './bureau.ts';
import { serveCatalogue } from './catalogue.ts';
import { serveControl } from './control.ts';
import type { Desk } from './desk.ts';
import { Faults } from './faults.ts';
import { serveFinance } from './finance.ts';
import { Holds } from './holds.ts';
import { openJournal, type Journal } from './journal.ts';
import { serveMailer } from './mailer.ts';
import { serveModel } from './model/serve.ts';
import { servePayments } from './payments.ts';
import { Refusal } from './refusal.ts';
import { serveSupplier } from './supplier.ts';
import { serveWarehouse } from './warehouse.ts';

export interface PartnersOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Loopback unless said otherwise: the faults can be set by anyone who reaches it. */
  host?: string;
  /** Where effects, keys and the clock are kept. Without it they end with the process. */
  stateFile?: string;
  logger?: Logger;
}

export interface RunningPartners {
  url: string;
  /** Stops at once: requests that are held are dropped, and not acted on. */
  close(): Promise<void>;
}

/** An order of 2,500 lines takes some 500 KB on its way to the warehouse. */
const bodyLimit = 2_000_000;

/**
 * Starts the partners. Throws when the port is taken or the state file is damaged anywhere but in
 * its last line.
 */
export async function startPartners(options: PartnersOptions = {}): Promise<RunningPartners> {
  const log = options.logger ?? pino({ level: 'silent' });
  const journal = openJournal(options.stateFile);
  if (journal.tornBytes > 0) {
    const { tornBytes } = journal;
    log.warn({ stateFile: options.stateFile, tornBytes }, 'cut off a torn last line');
  }
  try {
    const desk = openDesk(journal, log);
    const { port = 0, host = '127.0.0.1' } = options;
    const url = await desk.app.listen({ port, host });
    return { url, close: () => closeDesk(desk) };
  } catch (error) {
    journal.close();
    throw error;
  }
}

function openDesk(journal: Journal, log: Logger): Desk {
  const desk: Desk = {
    app: fastify({ bodyLimit, forceCloseConnections: true }),
    books: new Books(journal),
    faults: new Faults(),
    holds: new Holds(),
    inProgress: new Set(),
    log,
  };
  answerErrors(desk);
  servePayments(desk);
  serveBureau(desk);
  serveWarehouse(desk);
  serveSupplier(desk);
  serveCatalogue(desk);
  serveMailer(desk);
  serveFinance(desk);
  serveModel(desk);
  serveControl(desk, journal.tornBytes);
  return desk;
}

async function closeDesk({ app, books, holds }: Desk): Promise<void> {
  holds.drop();
  await app.close();
  books.close();
}

/** Every error is JSON: `{ error, message }`. */
function answerErrors({ app, log }: Desk): void {
  app.setNotFoundHandler(async (request, reply) => {
    void reply.code(404);
    return { error: 'no-such-route', message: `no ${request.method} ${request.url} here` };
  });
  app.setErrorHandler<FastifyError | Refusal>(async (error, _request, reply) => {
    if (error instanceof Refusal) {
      void reply.code(error.status);
      return { error: error.code, message: error.message };
    }
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error({ err: error }, 'a request failed');
    void reply.code(status);
    const code = status === 413 ? 'too-large' : status < 500 ? 'bad-request' : 'internal';
    return { error: code, message: error.message };
  });
}
