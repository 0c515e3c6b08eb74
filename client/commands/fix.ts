import type { Pipeline, WhereResult } from '../../core/contract.ts';
import type { HistoryEntry } from '../../core/history.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { orderIdOf } from '../../core/order/run-input.ts';
import type { Answer } from '../answer.ts';
import { badInput } from '../errors.ts';
import { readFiles } from '../read-files.ts';
import { resolveOrder } from '../references.ts';
import { ordersOf } from '../runs.ts';
import type { Session } from '../session.ts';
import { changeLines } from '../view/changes.ts';
import { commandOn } from '../view/commands.ts';
import type { ActionOptions } from './dead-letters.ts';
import { operatorAnswer } from './dead-letters.ts';

/** How long to look for the entry of a fix that was accepted: the position is written just after. */
const SEEN_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 100;

/** Goes on with a corrected order and shows what it changed. */
export async function fix(
  session: Session,
  reference: string,
  file: string,
  { by, why, buyer }: ActionOptions,
): Promise<Answer> {
  const [item, ...others] = await readFiles([file], session.stdin);
  if (item === undefined || others.length > 0) {
    throw badInput(`A fix takes one order, ${file} has ${others.length + 1}.`);
  }
  const pipeline = await session.pipeline();
  const id = await resolveOrder(pipeline, reference, buyer);
  const known = await pipeline.where(id);
  const corrected = businessKey(orderIdOf(item.order));
  // One that knows no orders has none to compare with; it says so when it is asked for the fix.
  if (known.kind !== 'cannot' && corrected !== businessKey(id)) {
    const message = `is ${corrected}, but the order to fix is ${businessKey(id)}`;
    const hint =
      'A fix keeps buyer and reference: correct the file, or name the order it belongs to.';
    throw badInput('The file is of another order.', [{ file, path: 'orderRef', message, hint }]);
  }
  const fixesBefore = fixesIn(known).length;
  const result = await pipeline.deadLetters.fix(id, { by, why, order: item.order });
  const answer = operatorAnswer(ordersOf(pipeline), id, result, `fixed by ${by}`);
  if (result.kind !== 'accepted') return answer;
  const entry = await newFix(pipeline, id, fixesBefore);
  if (entry === undefined) {
    return {
      ...answer,
      err: [
        `Before and after: ${commandOn(session.on, `where ${businessKey(id)} --history --json`)}`,
      ],
    };
  }
  const { before, after } = entry;
  return {
    ...answer,
    json: { ...answer.json, before, after },
    out: [...answer.out, ...changeLines(before, after)],
  };
}

type Fix = Extract<HistoryEntry, { type: 'fixed' }>;

function fixesIn(result: WhereResult): Fix[] {
  if (result.kind !== 'position') return [];
  return result.position.history.filter((entry) => entry.type === 'fixed');
}

async function newFix(pipeline: Pipeline, id: OrderId, known: number): Promise<Fix | undefined> {
  for (const end = Date.now() + SEEN_WITHIN_MS; Date.now() < end;) {
    const fixes = fixesIn(await pipeline.where(id));
    if (fixes.length > known) return fixes.at(-1);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return undefined;
}
