import { setTimeout as wait } from 'node:timers/promises';
import type { Effect, EffectKind, PartnerName } from './contract.ts';
import type { FaultSpec, HeldRequest, ListedFault } from './faults.ts';

export type { FaultSpec, HeldRequest, ListedFault } from './faults.ts';

/** Which effects: all of them unless narrowed. */
export interface EffectFilter {
  partner?: PartnerName;
  kind?: EffectKind;
  /** The order's business key. */
  reference?: string;
  orderRef?: string;
  buyerId?: string;
}

export type HeldFilter = Partial<
  Pick<HeldRequest, 'faultId' | 'partner' | 'operation' | 'reference' | 'acted' | 'callerGone'>
>;

/** The partners as the lab, the demo and tests see them. Every method throws an Error that says what the server said. */
export interface PartnersControl {
  /** Oldest first. A string is the order's business key. */
  effects(of?: string | EffectFilter): Promise<Effect[]>;
  /** How many of each kind; kinds that did not happen are 0. */
  counts(of?: string | EffectFilter): Promise<Record<EffectKind, number>>;
  /** Returns the fault's id. */
  setFault(fault: FaultSpec): Promise<string>;
  faults(): Promise<ListedFault[]>;
  /** Takes one fault away, or all, and lets go what it holds. Returns how many requests went on. */
  clearFault(faultId?: string): Promise<number>;
  /** Lets go what one fault holds, or all of it; the fault stays. Returns how many requests went on. */
  release(faultId?: string): Promise<number>;
  held(filter?: HeldFilter): Promise<HeldRequest[]>;
  /** Resolves as soon as such a request is held; throws after `limitMs`, saying what is held instead. */
  waitUntilHeld(filter: HeldFilter, limitMs: number): Promise<HeldRequest>;
  /** The partners' own time. */
  now(): Promise<Date>;
  advanceClock(ms: number): Promise<Date>;
  health(): Promise<{ status: string; tornBytes: number; now: string }>;
}

export function controlPartners(baseUrl: string): PartnersControl {
  const base = baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`;

  async function ask<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) {
    const response = await fetch(new URL(path, base), {
      method,
      ...(body && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    // Our own server of the same commit, tested against these types; nothing else listens there.
    return JSON.parse(text) as T;
  }

  async function held(filter: HeldFilter = {}): Promise<HeldRequest[]> {
    const all = (await ask<{ held: HeldRequest[] }>('GET', 'control/held')).held;
    return all.filter((request) => matches(request, filter));
  }

  const queryOf = (of: string | EffectFilter = {}) =>
    new URLSearchParams({ ...(typeof of === 'string' ? { reference: of } : of) }).toString();
  const asDate = ({ now }: { now: string }) => new Date(now);
  const released = ({ released }: { released: number }) => released;

  return {
    held,
    effects: async (of) =>
      (await ask<{ effects: Effect[] }>('GET', `effects?${queryOf(of)}`)).effects,
    counts: async (of) =>
      (await ask<{ counts: Record<EffectKind, number> }>('GET', `effects/counts?${queryOf(of)}`))
        .counts,
    setFault: async (fault) => (await ask<ListedFault>('POST', 'control/faults', fault)).faultId,
    faults: async () => (await ask<{ faults: ListedFault[] }>('GET', 'control/faults')).faults,
    clearFault: async (faultId) =>
      released(await ask('DELETE', faultId ? `control/faults/${faultId}` : 'control/faults')),
    release: async (faultId) =>
      released(await ask('POST', 'control/release', faultId ? { faultId } : {})),
    async waitUntilHeld(filter, limitMs) {
      const deadline = Date.now() + limitMs;
      for (;;) {
        const [request] = await held(filter);
        if (request) return request;
        if (Date.now() > deadline) {
          const instead = JSON.stringify(await held());
          const wanted = JSON.stringify(filter);
          throw new Error(`nothing like ${wanted} held within ${limitMs} ms; held: ${instead}`);
        }
        await wait(20);
      }
    },
    now: async () => asDate(await ask('GET', 'control/clock')),
    advanceClock: async (advanceMs) => asDate(await ask('POST', 'control/clock', { advanceMs })),
    health: () => ask('GET', 'health'),
  };
}

function matches(request: HeldRequest, filter: HeldFilter): boolean {
  return (
    (filter.faultId === undefined || filter.faultId === request.faultId) &&
    (filter.partner === undefined || filter.partner === request.partner) &&
    (filter.operation === undefined || filter.operation === request.operation) &&
    (filter.reference === undefined || filter.reference === request.reference) &&
    (filter.acted === undefined || filter.acted === request.acted) &&
    (filter.callerGone === undefined || filter.callerGone === request.callerGone)
  );
}
