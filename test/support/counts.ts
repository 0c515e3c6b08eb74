import type { EffectKind } from '../../partners/contract.ts';

/** The effects that did happen, with how often: so that a partner more changes no test of others. */
export function happened(counts: Record<EffectKind, number>): Partial<Record<EffectKind, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
