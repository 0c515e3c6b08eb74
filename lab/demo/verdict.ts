import Table from 'cli-table3';
import type { Position } from '../../core/contract.ts';
import { businessKey, orderIdOf } from '../../core/identity.ts';
import { EFFECT_KINDS, type EffectKind } from '../../partners/contract.ts';
import { positionOf, type Stage } from './acts.ts';
import type { DemoOrder } from './orders.ts';

/** One order at the end, as the contract and the partners tell it. */
export interface DemoRow {
  orderRef: string;
  title: string;
  position: Position;
  counts: Record<EffectKind, number>;
  /** What is not as it must be; empty when all is right. */
  wrong: string[];
}

export async function judge(stage: Stage): Promise<DemoRow[]> {
  return Promise.all(
    Object.values(stage.orders).map(async (expected: DemoOrder) => {
      const id = orderIdOf(expected.order);
      const position = await positionOf(stage, id);
      const counts = await stage.partners.counts(businessKey(id));
      return {
        orderRef: id.orderRef,
        title: expected.title,
        position,
        counts,
        wrong: faultsOf(expected, position, counts),
      };
    }),
  );
}

function faultsOf(
  { outcome, effects }: DemoOrder,
  position: Position,
  counts: DemoRow['counts'],
): string[] {
  const wrong: string[] = [];
  if (position.outcome !== outcome)
    wrong.push(`ended as ${position.outcome ?? position.status}, not ${outcome}`);
  for (const kind of EFFECT_KINDS) {
    const expected = effects[kind] ?? 0;
    if (counts[kind] !== expected) wrong.push(`${kind}: ${counts[kind]} instead of ${expected}`);
  }
  return wrong;
}

export function tableOf(rows: DemoRow[]): string {
  const table = new Table({
    head: ['order', '', 'where it is', 'charged', 'reserved', 'placed', 'mailed', 'took', 'right?'],
    style: { head: [], border: [] },
  });
  for (const { orderRef, title, position, counts, wrong } of rows) {
    table.push([
      orderRef,
      title,
      position.outcome ?? `${position.step} (${position.status})`,
      counts.charge,
      counts.reservation,
      counts.order,
      counts.mail,
      took(position),
      wrong.length === 0 ? 'yes' : wrong.join('; '),
    ]);
  }
  return table.toString();
}

/** By the run's own clock, which the demo moves: days for the one that waited for its date. */
function took({ startedAt, endedAt }: Position): string {
  if (endedAt === undefined) return '';
  const seconds = (Date.parse(endedAt) - Date.parse(startedAt)) / 1_000;
  return seconds < 3_600 ? `${seconds.toFixed(1)} s` : `${(seconds / 86_400).toFixed(1)} days`;
}
