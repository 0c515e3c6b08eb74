import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Effect, PartnerName } from '../contract.ts';
import { answerThroughFault, type Answer } from './answer.ts';
import { fingerprintOf, type Books } from './books.ts';
import type { Asked, Faults } from './faults.ts';
import type { HoldEnd, Holds } from './holds.ts';
import { Refusal } from './refusal.ts';

/** Where requests come in: what all partners share. */
export interface Desk {
  app: FastifyInstance;
  books: Books;
  faults: Faults;
  holds: Holds;
  /** Keys that are being worked on. */
  inProgress: Set<string>;
  log: Logger;
}

type Json = z.core.util.JSONType;

/** What acting on a request came to. Without effects nothing happened, and the key stays unused. */
export interface Act {
  effects?: Effect[];
  body: Json;
}

/** One thing a partner can be asked. */
export interface Operation<Input> {
  partner: PartnerName;
  operation: string;
  method: 'GET' | 'POST';
  url: string;
  input: z.ZodType<Input>;
  /** How long an idempotency key is kept. Absent: takes no keys, and asked twice it acts twice. */
  keptForMs?: number;
  /** What faults match on. */
  about(input: Input): { reference?: string; key?: string; skus?: string[] };
  /** Decides, without waiting for anything; throws a `Refusal` to say no. `key` is empty where none is taken. */
  act(input: Input, key: string): Act;
}

/** An effect key has up to some 1,400 characters: an order's business key, a step, a line. */
const keySchema = z
  .string('this partner needs the header Idempotency-Key')
  .min(1, 'the header Idempotency-Key is empty')
  .max(2_000, 'an Idempotency-Key has 2,000 characters at most');

/** Serves one operation over HTTP, with whatever faults are set for it. */
export function serve<Input>(desk: Desk, operation: Operation<Input>): void {
  const { partner, operation: name, method, url } = operation;
  desk.app.route({
    method,
    url,
    handler: async (request, reply) => {
      const input = parse(operation.input, method === 'GET' ? request.query : request.body);
      const keyed = operation.keptForMs !== undefined;
      const key = keyed ? parse(keySchema, request.headers['idempotency-key']) : '';
      const about = operation.about(input);
      const asked: Asked = { partner, operation: name, skus: [], ...about, ...(keyed && { key }) };
      await answerThroughFault(desk, { asked, socket: request.raw.socket, reply }, (delay) =>
        work(desk, operation, { input, key, delay }),
      );
      return reply;
    },
  });
}

/** Returns what `value` is when the schema agrees; a 400 that names the fields otherwise. */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  throw new Refusal(400, 'bad-request', z.prettifyError(parsed.error));
}

interface Job<Input> {
  input: Input;
  key: string;
  delay: (() => Promise<HoldEnd>) | undefined;
}

/** Undefined when the partners closed before it was done: then nothing was done. */
async function work<Input>(
  { books, inProgress }: Desk,
  operation: Operation<Input>,
  { input, key, delay }: Job<Input>,
): Promise<Answer | undefined> {
  const slot = key && `${operation.partner} ${key}`;
  if (inProgress.has(slot)) {
    return refuse(new Refusal(409, 'in-progress', `a request with key ${key} is in progress`));
  }
  if (slot) inProgress.add(slot);
  try {
    if (delay && (await delay()) === 'dropped') return undefined;
    return { status: 200, body: actOnce(books, operation, input, key) };
  } catch (error) {
    if (error instanceof Refusal) return refuse(error);
    throw error;
  } finally {
    inProgress.delete(slot);
  }
}

function actOnce<Input>(
  books: Books,
  operation: Operation<Input>,
  input: Input,
  key: string,
): Json {
  const { partner, keptForMs } = operation;
  const kept = keptForMs === undefined ? undefined : books.kept(partner, key, keptForMs);
  const fingerprint = fingerprintOf(input);
  if (kept && kept.fingerprint !== fingerprint) {
    throw new Refusal(422, 'key-reused', `key ${key} came with another request before`);
  }
  if (kept) return kept.body;
  const { effects = [], body } = operation.act(input, key);
  // A key protects what was done. An answer that did nothing is not kept: asked again, it may.
  if (effects.length > 0) {
    books.record(effects, key ? { partner, key, fingerprint, body } : undefined);
  }
  return body;
}

function refuse({ status, code, message }: Refusal): Answer {
  return { status, body: { error: code, message } };
}
