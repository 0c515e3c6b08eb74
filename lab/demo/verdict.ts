import Table from 'cli-table3';
import type { Implementation, Position } from '../../core/contract.ts';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import { EFFECT_KINDS, type EffectKind } from '../../partners/contract.ts';
import type { Actor } from './acts.ts';
import type { DemoOrder, Expected } from './orders.ts';

/** One order on one implementation at the end, as the contract and the partners tell it. */
export interface DemoRow {
  orderRef: string;
  title: string;
  implementation: Implementation;
  position: Position | undefined;
  counts: Record<EffectKind, number>;
  verdict: string;
  /** What is not as it must be; empty when all is right. */
  wrong: string[];
}

export async function judge({ world, orders }: Actor): Promise<DemoRow[]> {
  const { implementation, pipeline, partners } = world;
  return Promise.all(
    Object.values<DemoOrder>(orders).map(async ({ order, title, on }) => {
      const id = orderIdOf(order);
      const expected = on[implementation];
      const answer = await pipeline.where(id);
      const position = answer.kind === 'position' ? answer.position : undefined;
      const counts = await partners.counts(businessKey(id));
      const wrong = faultsOf(expected, position, counts);
      const { orderRef } = order;
      return {
        orderRef,
        title,
        implementation,
        position,
        counts,
        verdict: expected.verdict,
        wrong,
      };
    }),
  );
}

function faultsOf(
  expected: Expected,
  position: Position | undefined,
  counts: DemoRow['counts'],
): string[] {
  const wrong = EFFECT_KINDS.flatMap((kind) => {
    const right = expected.effects[kind] ?? 0;
    return counts[kind] === right ? [] : [`${kind}: ${counts[kind]} instead of ${right}`];
  });
  if (position?.outcome === expected.outcome) return wrong;
  const found = position?.outcome ?? position?.status ?? 'nothing';
  return [`ended as ${found}, not ${expected.outcome}`, ...wrong];
}

/** The rows of one order stand together. */
export function tableOf(rows: DemoRow[]): string {
  const table = new Table({
    head: ['order', 'on', 'where it is', 'charged', 'reserved', 'placed', 'mailed', 'took', ''],
    style: { head: [], border: [] },
  });
  for (const [orderRef, same] of Map.groupBy(rows, (row) => row.orderRef)) {
    const [first] = same;
    if (!first) continue;
    for (const [n, { implementation, position, counts, verdict, wrong }] of same.entries()) {
      const name = { rowSpan: same.length, content: `${orderRef}\n${first.title}` };
      const { charge, reservation, order, mail } = counts;
      const cells = [implementation, whereIs(position), charge, reservation, order, mail];
      const last = wrong.length === 0 ? verdict : `WRONG: ${wrong.join('; ')}`;
      table.push([...(n === 0 ? [name] : []), ...cells, took(position), last]);
    }
  }
  return table.toString();
}

function whereIs(position: Position | undefined): string {
  if (!position) return 'cannot say';
  return position.outcome ?? `${position.step} (${position.status})`;
}

/** By the run's own clock, which the demo moves on Temporal: weeks for the one that waited for its date. */
function took(position: Position | undefined): string {
  if (position?.endedAt === undefined) return '';
  const seconds = (Date.parse(position.endedAt) - Date.parse(position.startedAt)) / 1_000;
  return seconds < 3_600 ? `${seconds.toFixed(1)} s` : `${(seconds / 86_400).toFixed(1)} days`;
}
