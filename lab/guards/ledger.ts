import type { Guard } from './guard.ts';

/**
 * The ledger is still written to, since an undo is registered there; it is no longer believed. Every
 * attempt takes itself for the first: neither "done already" nor "ask before you act again".
 */
export const ledger: Guard = {
  name: 'the ledger',
  patches: [
    {
      file: 'queue/ledger/effect.ts',
      replace: 'const written = await writeIntent(tx, effect, performer);',
      by: `const written: Awaited<ReturnType<typeof writeIntent>> =
      { kind: 'fresh', sends: 1, ...(await writeIntent(tx, effect, performer), {}) };`,
    },
  ],
};

/** What the ledger's question is on Temporal: the activity asks the partner first, and acts all the same now. */
export const askBeforeAct: Guard = {
  name: 'asking before acting',
  patches: [
    {
      file: 'activities/charge.ts',
      replace: 'if (earlier) return earlier.chargeId;',
      by: '',
    },
    {
      file: 'activities/place.ts',
      replace: 'if (open) return open.supplierOrderId;',
      by: '',
    },
    {
      file: 'activities/invoice.ts',
      replace: 'if (sent.length > 0) return invoiceNumber;',
      by: '',
    },
  ],
};
