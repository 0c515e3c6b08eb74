import { randomUUID } from 'node:crypto';
import type { PartnerName } from '../contract.ts';
import type { Fault, FaultEffect, ListedFault } from '../faults.ts';
import { fixedFraction } from './fixed.ts';

/** What a fault can tell requests apart by. */
export interface Asked {
  partner: PartnerName;
  operation: string;
  reference?: string;
  key?: string;
  skus: string[];
}

interface SetFault extends ListedFault {
  /** How often each request came by: the second try of one is another throw of the dice. */
  tries: Map<string, number>;
}

/**
 * The faults that are set, in memory only: a restart is a new partner that works. Where several
 * match, the first one set that strikes wins.
 */
export class Faults {
  readonly #set = new Map<string, SetFault>();

  set(fault: Fault): ListedFault {
    const faultId = randomUUID();
    this.#set.set(faultId, { faultId, fault, seen: 0, struck: 0, tries: new Map() });
    return { faultId, fault, seen: 0, struck: 0 };
  }

  list(): ListedFault[] {
    return [...this.#set.values()].map(({ faultId, fault, seen, struck }) => ({
      faultId,
      fault,
      seen,
      struck,
    }));
  }

  /** Takes one fault away, or all. Returns the ids. */
  clear(faultId?: string): string[] {
    const ids = [...this.#set.keys()].filter((id) => faultId === undefined || id === faultId);
    for (const id of ids) this.#set.delete(id);
    return ids;
  }

  /** The fault that strikes this request, if any. Counts it. */
  draw(asked: Asked): { faultId: string; effect: FaultEffect } | undefined {
    for (const set of this.#set.values()) {
      if (!matches(set.fault, asked)) continue;
      set.seen += 1;
      const { skip, times, effect } = set.fault;
      if (set.seen <= skip || (times !== undefined && set.struck >= times)) continue;
      if (!diceStrike(set, asked)) continue;
      set.struck += 1;
      return { faultId: set.faultId, effect };
    }
    return undefined;
  }
}

function matches(fault: Fault, asked: Asked): boolean {
  return (
    (fault.partner === undefined || fault.partner === asked.partner) &&
    (fault.operation === undefined || fault.operation === asked.operation) &&
    (fault.reference === undefined || fault.reference === asked.reference) &&
    (fault.sku === undefined || asked.skus.includes(fault.sku))
  );
}

/**
 * The dice are thrown by the request's own identity and not by a running number, so that concurrent
 * requests, which come in another order in every run, meet the same fate in every run.
 */
function diceStrike({ fault, tries }: SetFault, asked: Asked): boolean {
  if (fault.rate === 1) return true;
  const identity = [asked.partner, asked.operation, asked.reference, asked.key, ...asked.skus];
  const text = JSON.stringify(identity);
  const attempt = (tries.get(text) ?? 0) + 1;
  tries.set(text, attempt);
  return fixedFraction(`${fault.seed} ${attempt} ${text}`) < fault.rate;
}
