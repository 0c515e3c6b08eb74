import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { businessKey } from '../core/identity.ts';
import { canonicalJson } from '../core/order/canonical.ts';
import { InvalidOrder } from '../core/order/fault.ts';
import type { Fault } from '../core/order/fault.ts';
import { readOrders } from '../core/order/read/read.ts';
import { orderIdOf, toRunInput } from '../core/order/run-input.ts';
import type { Order } from '../core/order/schema.ts';
import { defaultPolicy, orderLimits } from '../core/policy.ts';
import type { InputFault } from './errors.ts';
import { badInput, messageOf } from './errors.ts';

/** An order with the file it came from. */
export interface OrderInFile {
  file: string;
  order: Order;
}

/**
 * Reads and checks all files, `-` being `stdin`. Returns every order in them; throws one
 * error (exit 2) with every fault of every file, so that nothing is started from a bad batch.
 */
export async function readFiles(files: readonly string[], stdin: Readable): Promise<OrderInFile[]> {
  if (files.filter((file) => file === '-').length > 1) {
    throw badInput('Standard input (-) can be read once only. Name it once.');
  }
  const orders: OrderInFile[] = [];
  const faults: InputFault[] = [];
  // One after the other: a shell glob may name thousands, and their faults come in the order given.
  for (const file of files) {
    const read = await readOne(file, stdin);
    if ('faults' in read) faults.push(...read.faults.map((fault) => ({ file, ...fault })));
    else orders.push(...read.orders.map((order) => ({ file, order })));
  }
  faults.push(...contradictions(orders));
  if (faults.length > 0) {
    const subject = files.length === 1 ? 'The file has' : 'The files have';
    throw badInput(`${subject} ${count(faults.length)}. Nothing was started.`, faults);
  }
  return orders;
}

async function readOne(
  file: string,
  stdin: Readable,
): Promise<{ orders: Order[] } | { faults: Fault[] }> {
  let bytes: Uint8Array;
  try {
    bytes = await readAtMost(
      file === '-' ? stdin : createReadStream(file),
      orderLimits.maxFileBytes,
    );
  } catch (error) {
    const hint = 'Check the name and that you may read it; - reads standard input.';
    return { faults: [{ path: '', message: `can't be read (${messageOf(error)})`, hint }] };
  }
  const result = readOrders(bytes, file === '-' ? 'standard input' : file);
  if (!result.ok) return { faults: result.faults };
  const faults = result.orders.flatMap((order, index) => dateFaults(order, index, result.orders));
  return faults.length > 0 ? { faults } : { orders: result.orders };
}

/** What only today's date can tell (a charge date too far ahead), in time for all files to be held back. */
function dateFaults(order: Order, index: number, all: readonly Order[]): Fault[] {
  try {
    toRunInput(order, defaultPolicy, new Date());
    return [];
  } catch (error) {
    if (!(error instanceof InvalidOrder)) throw error;
    const prefix = all.length > 1 ? `[${index}].` : '';
    return error.faults.map((fault) => ({ ...fault, path: prefix + fault.path }));
  }
}

/** The first `max` bytes and one more if there is one: a device or a pipe has no size to ask for first. */
async function readAtMost(source: Readable, max: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk as Uint8Array);
    chunks.push(bytes);
    size += bytes.length;
    if (size > max) break;
  }
  return Buffer.concat(chunks).subarray(0, max + 1);
}

/** Two orders of one batch under one identity but with other content: one of them must be wrong. */
function contradictions(orders: readonly OrderInFile[]): InputFault[] {
  const seen = new Map<string, OrderInFile>();
  const faults: InputFault[] = [];
  for (const item of orders) {
    const key = businessKey(orderIdOf(item.order));
    const first = seen.get(key);
    if (first === undefined) seen.set(key, item);
    else if (canonicalJson(first.order) !== canonicalJson(item.order)) {
      faults.push({
        file: item.file,
        path: 'orderRef',
        message: `${key} is also in ${first.file}, with other content`,
        hint: 'Give one of them a reference of its own, or leave one out.',
      });
    }
  }
  return faults;
}

function count(faults: number): string {
  return faults === 1 ? 'a fault' : `${faults} faults`;
}
