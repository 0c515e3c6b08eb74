import type { AgentPipeline } from '../core/agent/contract.ts';
import type { Pipeline } from '../core/contract.ts';
import { businessKey, MAX_ID_LENGTH, parseBusinessKey } from '../core/identity.ts';
import type { OrderId } from '../core/identity.ts';
import { notFound } from './endings.ts';
import { badInput, CommandError } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import { ordersOf, requestsOf } from './runs.ts';
import type { Runs } from './runs.ts';

/** Lists are written a moment after a run starts: an empty one is looked at a second time after this. */
const SECOND_LOOK_MS = 300;

export function resolveOrder(pipeline: Pipeline, reference: string, buyer?: string) {
  return resolveRun(ordersOf(pipeline), reference, buyer);
}

export function resolveRequest(agents: AgentPipeline, reference: string, buyer?: string) {
  return resolveRun(requestsOf(agents), reference, buyer);
}

/**
 * The run that a user means by `reference`: a bare reference, or `buyer/reference` with both
 * parts percent-encoded where they need it. With `buyer` the reference is taken as it is.
 * Throws exit 2 when buyers share the reference, 3 when nobody has it.
 */
export async function resolveRun(runs: Runs, reference: string, buyer?: string): Promise<OrderId> {
  if (buyer !== undefined) return bounded(runs, { buyerId: buyer, orderRef: reference });
  const written = asBusinessKey(reference);
  const byKey = written && (await runs.where(written));
  // An implementation that can't answer must not be asked for a list either.
  if (written && byKey?.kind === 'cannot') return written;
  let found = await withReference(runs, reference);
  // Nor knows one without a list any run. The command asks it all the same, whatever the name: the
  // answer then says why this very thing can't be done.
  if (found === undefined) return { buyerId: '', orderRef: reference };
  if (written && byKey?.kind === 'position') found.push(written);
  else if (found.length === 0 && !written) {
    await new Promise((resolve) => setTimeout(resolve, SECOND_LOOK_MS));
    found = (await withReference(runs, reference)) ?? [];
  }
  const keys = [...new Set(found.map(businessKey))];
  if (keys.length > 1) throw ambiguous(runs, reference, keys);
  const [id] = found;
  if (id === undefined) throw notFound(runs, reference);
  return id;
}

/** Whoever's runs have this reference; undefined when the implementation can't list. */
async function withReference(runs: Runs, reference: string): Promise<OrderId[] | undefined> {
  if (reference.length > MAX_ID_LENGTH) return [];
  const result = await runs.named(reference);
  return result.kind === 'runs' ? result.runs.map((run) => run.id) : undefined;
}

function asBusinessKey(reference: string): OrderId | undefined {
  try {
    const id = parseBusinessKey(reference);
    const parts = [id.buyerId, id.orderRef];
    // No order can have a NUL in its name, and Postgres takes it for a broken text.
    const possible = parts.every((part) => part.length <= MAX_ID_LENGTH && !part.includes('\0'));
    return possible ? id : undefined;
  } catch {
    // Not two encoded parts, so it's a bare reference: `2026/11/7` is one.
    return undefined;
  }
}

function bounded({ noun }: Runs, id: OrderId): OrderId {
  if (id.orderRef === '' || id.orderRef.length > MAX_ID_LENGTH) {
    throw badInput(
      `The reference of ${noun === 'order' ? 'an order' : 'a request'} has 1 to ${MAX_ID_LENGTH} characters.`,
    );
  }
  return id;
}

function ambiguous({ noun }: Runs, reference: string, keys: readonly string[]): CommandError {
  const shown = keys.slice(0, 20).join(', ');
  const more = keys.length > 20 ? ` and ${keys.length - 20} more` : '';
  const message = `${keys.length} buyers have ${noun === 'order' ? 'an order' : 'a request'} ${reference}: ${shown}${more}.`;
  return new CommandError(EXIT.badInput, message, { hint: 'Name the one you mean.' });
}
