import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseBusinessKey } from '../../core/identity.ts';
import { EFFECT_KINDS, PARTNER_NAMES, type Effect, type PartnerName } from '../contract.ts';
import type { Journal } from './journal.ts';

const effectSchema = z.strictObject({
  partner: z.enum(PARTNER_NAMES),
  kind: z.enum(EFFECT_KINDS),
  reference: z.string(),
  key: z.string().exactOptional(),
  at: z.iso.datetime(),
  amount: z.strictObject({ currency: z.string(), minor: z.int() }).exactOptional(),
  supplierId: z.string().exactOptional(),
  undoes: z.string().exactOptional(),
  id: z.string(),
});

/** What a key stands for: the request it came with and the answer to repeat. */
const keptSchema = z.strictObject({
  partner: z.enum(PARTNER_NAMES),
  key: z.string(),
  fingerprint: z.string(),
  body: z.json(),
  atMs: z.int(),
});

// One line is one act: an effect and the key that protects it are on disk together or not at all.
const entrySchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('act'),
    effects: z.array(effectSchema),
    kept: keptSchema.exactOptional(),
  }),
  z.strictObject({ type: z.literal('clock'), offsetMs: z.int() }),
]);
type Entry = z.infer<typeof entrySchema>;
export type Kept = z.infer<typeof keptSchema>;

export interface EffectFilter {
  partner?: PartnerName | undefined;
  kind?: Effect['kind'] | undefined;
  reference?: string | undefined;
  orderRef?: string | undefined;
  buyerId?: string | undefined;
}

/** The partners' memory: effects that happened, keys they keep, and their clock. */
export class Books {
  readonly #journal: Journal;
  readonly #effects = new Map<string, Effect>();
  readonly #byKey = new Map<string, Effect[]>();
  readonly #undoneBy = new Map<string, Effect>();
  readonly #kept = new Map<string, Kept>();
  #offsetMs = 0;

  /** Reads back what the journal holds. Throws an Error naming the entry that is not one of ours. */
  constructor(journal: Journal) {
    this.#journal = journal;
    journal.entries.forEach((entry, index) => {
      const parsed = entrySchema.safeParse(entry);
      if (!parsed.success) {
        throw new Error(`state file, line ${index + 1}: ${z.prettifyError(parsed.error)}`);
      }
      this.#apply(parsed.data);
    });
  }

  /** The partners' own time, in milliseconds since 1970. */
  nowMs(): number {
    return Date.now() + this.#offsetMs;
  }

  /** Moves the clock forward; it keeps that lead over a restart. */
  advance(ms: number): void {
    this.#write({ type: 'clock', offsetMs: this.#offsetMs + ms });
  }

  /** An effect that is about to happen, with its id and time; `record` makes it real. */
  draft(effect: Omit<Effect, 'id' | 'at'>): Effect {
    return { ...effect, at: new Date(this.nowMs()).toISOString(), id: randomUUID() };
  }

  /** Writes down what happened, and the answer to keep for its key. */
  record(effects: Effect[], kept?: Omit<Kept, 'atMs'>): void {
    this.#write({
      type: 'act',
      effects,
      ...(kept && { kept: { ...kept, atMs: this.nowMs() } }),
    });
  }

  /** The answer kept for `key`, unless it is `keptForMs` old by the partners' clock. */
  kept(partner: PartnerName, key: string, keptForMs: number): Kept | undefined {
    const kept = this.#kept.get(slot(partner, key));
    return kept && this.nowMs() - kept.atMs < keptForMs ? kept : undefined;
  }

  /** What was done under `key`, oldest first, also after the key itself was forgotten. */
  madeUnder(partner: PartnerName, kind: Effect['kind'], key: string): Effect[] {
    return (this.#byKey.get(slot(partner, key)) ?? []).filter((effect) => effect.kind === kind);
  }

  /** The effect that took back the one with this id. */
  undoOf(effectId: string): Effect | undefined {
    return this.#undoneBy.get(effectId);
  }

  find(effectId: string): Effect | undefined {
    return this.#effects.get(effectId);
  }

  effects(filter: EffectFilter = {}): Effect[] {
    return [...this.#effects.values()].filter((effect) => matches(effect, filter));
  }

  close(): void {
    this.#journal.close();
  }

  #write(entry: Entry): void {
    // Disk first: what is in memory and not on disk would be forgotten by a restart.
    this.#journal.append(entry);
    this.#apply(entry);
  }

  #apply(entry: Entry): void {
    if (entry.type === 'clock') {
      this.#offsetMs = entry.offsetMs;
      return;
    }
    for (const effect of entry.effects) {
      this.#effects.set(effect.id, effect);
      if (effect.undoes) this.#undoneBy.set(effect.undoes, effect);
      if (!effect.key) continue;
      const known = this.#byKey.get(slot(effect.partner, effect.key));
      if (known) known.push(effect);
      else this.#byKey.set(slot(effect.partner, effect.key), [effect]);
    }
    if (entry.kept) this.#kept.set(slot(entry.kept.partner, entry.kept.key), entry.kept);
  }
}

/** Tells two requests under one key apart without keeping 2,500 lines for each. */
export function fingerprintOf(input: unknown): string {
  return createHash('sha256').update(JSON.stringify(input)).digest('hex');
}

function slot(partner: PartnerName, key: string): string {
  return `${partner} ${key}`;
}

function matches(effect: Effect, filter: EffectFilter): boolean {
  const { buyerId, orderRef } = parseBusinessKey(effect.reference);
  return (
    (filter.partner === undefined || filter.partner === effect.partner) &&
    (filter.kind === undefined || filter.kind === effect.kind) &&
    (filter.reference === undefined || filter.reference === effect.reference) &&
    (filter.orderRef === undefined || filter.orderRef === orderRef) &&
    (filter.buyerId === undefined || filter.buyerId === buyerId)
  );
}
