import type { AgentPipeline, AgentPosition } from '../../core/agent/contract.ts';
import { orderIdOfRequest } from '../../core/agent/identity.ts';
import type { Spent } from '../../core/agent/spend.ts';
import type { ClaimCheckStore } from '../../core/agent/store.ts';
import { readEntries } from '../../core/agent/transcript.ts';
import type { Pipeline, Position } from '../../core/contract.ts';
import type { HistoryEntry } from '../../core/history.ts';
import { businessKey, type OrderId } from '../../core/identity.ts';
import type { EffectKind } from '../../partners/contract.ts';
import type { PartnersControl } from '../../partners/control.ts';

/** One implementation as the parity suite drives its agents. */
export interface AgentSide {
  pipeline: AgentPipeline;
  orders: Pipeline;
  partners: PartnersControl;
  store: () => Promise<ClaimCheckStore>;
  until(id: OrderId, wanted: (position: AgentPosition) => boolean): Promise<AgentPosition>;
  untilOrder(id: OrderId, wanted: (position: Position) => boolean): Promise<Position>;
  forward(id: OrderId, ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What has to be the same on both sides. */
export interface AgentObservation {
  outcome: string | undefined;
  /** Without the request's reference, which differs. */
  reason: string | undefined;
  turns: number;
  /** Turns that can be read from the store. */
  entries: number;
  spent: Spent;
  version: string;
  history: string[];
  conflicts: string[];
  effects: Partial<Record<EffectKind, number>>;
  /** Answers of the model that the partner was paid for. */
  paid: number;
}

export async function observe(side: AgentSide, id: OrderId): Promise<AgentObservation> {
  const position = await side.until(id, ({ status }) => status === 'ended');
  const { outcome, reason, history, turn, spent, version } = position;
  const effects = await side.partners.effects(businessKey(orderIdOfRequest(id)));
  const counts: Partial<Record<EffectKind, number>> = {};
  for (const { kind } of effects) counts[kind] = (counts[kind] ?? 0) + 1;
  const { completion } = await side.partners.counts(businessKey(id));
  const open = history.slice(0, history.findIndex(({ type }) => type === 'ended') + 1);
  const refused = ({ type }: HistoryEntry) => type === 'decision-conflict';
  const nameless = (text: string) => text.replaceAll(id.orderRef, 'REQ');
  return {
    outcome,
    reason: reason === undefined ? undefined : nameless(reason),
    turns: turn,
    entries: await entriesOf(side, id),
    spent,
    version,
    history: open.filter((entry) => !refused(entry)).map((entry) => nameless(inWords(entry))),
    conflicts: open.filter(refused).map(inWords).sort(),
    effects: counts,
    paid: completion,
  };
}

async function entriesOf({ pipeline, store }: AgentSide, id: OrderId): Promise<number> {
  const place = await pipeline.transcript(id);
  if (place.kind !== 'position') throw new Error(`the transcript: ${place.kind}`);
  return (await readEntries(await store(), place.position.head)).length;
}

/** Dates differ from run to run; what was decided does not. */
function inWords({ at, ...event }: HistoryEntry): string {
  void at;
  if ('until' in event) delete event.until;
  return JSON.stringify(event, Object.keys(event).sort());
}
