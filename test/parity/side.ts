import { Client, Connection } from '@temporalio/client';
import { fastForward } from '../../lab/time/temporal.ts';
import type { Pipeline, Position } from '../../core/contract.ts';
import type { HistoryEntry } from '../../core/history.ts';
import { businessKey, runIdOf, type OrderId } from '../../core/identity.ts';
import type { EffectKind } from '../../partners/contract.ts';
import type { PartnersControl } from '../../partners/control.ts';
import { openBench as openQueueBench } from '../queue/support/bench.ts';
import { openBench as openTemporalBench } from '../support/order-bench.ts';

/** One implementation as the parity suite drives it: by its contract, its partners and its clock. */
export interface Side {
  pipeline: Pipeline;
  partners: PartnersControl;
  until(id: OrderId, wanted: (position: Position) => boolean): Promise<Position>;
  forward(id: OrderId, ms: number): Promise<void>;
  close(): Promise<void>;
}

export async function openTemporalSide(): Promise<Side> {
  const bench = await openTemporalBench();
  const connection = await Connection.connect({ address: bench.address });
  const client = new Client({ connection });
  return {
    pipeline: bench.pipeline,
    partners: bench.partners,
    until: (id, wanted) => bench.until(id, wanted),
    async forward(id, ms) {
      await fastForward(client, runIdOf(id), ms);
    },
    async close() {
      await connection.close();
      await bench.close();
    },
  };
}

export async function openQueueSide(): Promise<Side> {
  const bench = await openQueueBench();
  return {
    pipeline: bench.pipeline,
    partners: bench.partners,
    until: (id, wanted) => bench.until(id, wanted),
    forward: (id, ms) => bench.shift(id, ms),
    close: () => bench.close(),
  };
}

/** What has to be the same on both sides. */
export interface Observation {
  outcome: string | undefined;
  reason: string | undefined;
  /** Step, status and what it waited for, at the moments the path looked. */
  seen: string[];
  /** Business events of the history, without times and ids. */
  history: string[];
  /**
   * Answers that were refused while the run was open. When they came among the steps depends on how
   * fast each side is. What comes after the end is left out: a closed run of the engine keeps nothing.
   */
  conflicts: string[];
  effects: Partial<Record<EffectKind, number>>;
  /** What was taken back, in the partners' order. */
  undone: EffectKind[];
  charged: number[];
}

export async function observe(side: Side, id: OrderId, seen: string[]): Promise<Observation> {
  const { outcome, reason, history } = await side.until(id, ({ status }) => status === 'ended');
  const effects = await side.partners.effects(businessKey(id));
  const undoing: EffectKind[] = ['release', 'refund', 'cancel'];
  const counts: Partial<Record<EffectKind, number>> = {};
  for (const { kind } of effects) counts[kind] = (counts[kind] ?? 0) + 1;
  const open = history.slice(0, history.findIndex(({ type }) => type === 'ended') + 1);
  const refused = ({ type }: HistoryEntry) => type === 'decision-conflict';
  return {
    outcome,
    reason,
    seen,
    history: open.filter((entry) => !refused(entry)).map(inWords),
    conflicts: open.filter(refused).map(inWords).sort(),
    effects: counts,
    undone: effects.map(({ kind }) => kind).filter((kind) => undoing.includes(kind)),
    charged: effects.flatMap(({ kind, amount }) =>
      kind === 'charge' && amount ? [amount.minor] : [],
    ),
  };
}

/** Ids of partners and dates differ from run to run; what was decided does not. */
function inWords({ at, ...event }: HistoryEntry): string {
  void at;
  if ('detail' in event) delete event.detail;
  if ('until' in event) delete event.until;
  return JSON.stringify(event, Object.keys(event).sort());
}
