/** How long things are kept after their run has ended. Everything that is ever deleted by age is here, or in the transport's limits. */
export interface Retention {
  /** History, input, attempts, gates, timers, joins, resolved dead letters: what explains a run. */
  detailsMs: number;
  /** The run's identity and its ledger: what keeps its effects from happening again. */
  ledgerMs: number;
}

const DAY_MS = 24 * 3_600_000;

export const defaultRetention: Retention = { detailsMs: 90 * DAY_MS, ledgerMs: 400 * DAY_MS };

/**
 * The longest time after which a partner forgets a key (the payments do after a day; the others never).
 * Within it the ledger and the partner guard an effect together; the ledger must not be the first to go.
 */
const PARTNER_KEYS_MS = 1 * DAY_MS;

/**
 * Throws a RangeError, which names the field, unless the ledger outlives the details, the keys of the
 * partners, and every dead letter that `deadRetentionMs` lets live. With null (dead letters are kept
 * for ever) it is the look at the messages themselves that holds a ledger back: pruneLedgers.
 */
export function checkRetention(retention: Retention, deadRetentionMs: number | null): void {
  const { detailsMs, ledgerMs } = retention;
  for (const [field, ms] of Object.entries({ detailsMs, ledgerMs })) {
    if (!Number.isSafeInteger(ms) || ms < 0) {
      throw new RangeError(`${field} is ${ms}: give a whole number of milliseconds, not negative`);
    }
  }
  const outlived = [
    ['the details of a run', detailsMs],
    ['the keys of the partners', PARTNER_KEYS_MS],
    ['the dead letters', deadRetentionMs ?? 0],
  ] as const;
  for (const [what, ms] of outlived) {
    if (ledgerMs < ms) {
      throw new RangeError(`ledgerMs is ${ledgerMs}: it has to outlive ${what} (${ms})`);
    }
  }
}
