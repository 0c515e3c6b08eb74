import { orderLimits } from '../../policy.ts';
import { MAX_FAULTS, boundFaults } from '../fault.ts';
import type { Fault } from '../fault.ts';
import { parseOrder } from '../parse.ts';
import { plain } from '../quote.ts';
import type { Order } from '../schema.ts';
import { decode } from './decode.ts';
import { readUblOrder } from './ubl.ts';

export type ReadResult = { ok: true; orders: Order[] } | { ok: false; faults: Fault[] };

/**
 * The orders in a file: JSON (one order or a list of them) or one UBL 2 Order in XML; the content
 * decides which. All of them, or every fault (bounded) and none. Never throws.
 * Faults in JSON have paths like `lines[3].quantity` (`[1].lines[3].quantity` in a list), faults in
 * XML like `/Order/OrderLine[4]/LineItem/Quantity`.
 */
export function readOrders(bytes: Uint8Array, fileName: string): ReadResult {
  if (bytes.length > orderLimits.maxFileBytes) {
    const limit = `${orderLimits.maxFileBytes / 1_000_000} MB`;
    return refused(`is larger than ${limit}, so it was not read`, 'split it, one order a file');
  }
  const decoded = decode(bytes);
  if (!decoded.ok) return { ok: false, faults: [decoded.fault] };
  const text = decoded.text.trimStart();
  if (text === '') return refused('is empty', 'write an order as JSON or as UBL 2 XML');
  if (text.startsWith('<')) return readUblOrder(decoded.text);
  return readJson(decoded.text, fileName);
}

function readJson(text: string, fileName: string): ReadResult {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    const expected = /\.xml$/i.test(fileName) ? 'XML (it starts with another sign than <)' : 'JSON';
    // V8's message names line and column, and quotes the text, which may hold anything.
    return refused(`is not ${expected}`, error instanceof Error ? plain(error.message, 160) : '');
  }
  if (!Array.isArray(content)) {
    const result = parseOrder(content);
    return result.ok ? { ok: true, orders: [result.order] } : result;
  }
  if (content.length === 0) return refused('is an empty list', 'write at least one order');
  return readList(content);
}

function readList(content: readonly unknown[]): ReadResult {
  const orders: Order[] = [];
  const faults: Fault[] = [];
  for (const [index, item] of content.entries()) {
    const result = parseOrder(item);
    if (result.ok) orders.push(result.order);
    else faults.push(...result.faults.map((fault) => inList(fault, index)));
    // A list of a million numbers is no list of orders: nobody waits for a minute to be told so.
    if (faults.length > MAX_FAULTS) return { ok: false, faults: boundFaults(faults, false) };
  }
  return faults.length === 0 ? { ok: true, orders } : { ok: false, faults };
}

function inList(fault: Fault, index: number): Fault {
  return { ...fault, path: fault.path === '' ? `[${index}]` : `[${index}].${fault.path}` };
}

function refused(message: string, hint: string): ReadResult {
  return { ok: false, faults: [{ path: '', message, hint }] };
}
