/** Keeps a claim alive while the work goes on; `signal` aborts when it is lost. */
export interface KeptAlive {
  signal: AbortSignal;
  stop(): void;
}

/**
 * Beats three times per lease, so that one beat may be late. `beat` returns whether the claim is still
 * ours; an error (the database is away for a moment) is no answer, and the next beat asks again.
 */
export function keepAlive(leaseMs: number, beat: () => Promise<boolean>): KeptAlive {
  const lost = new AbortController();
  let beating = false;
  const timer = setInterval(
    () => {
      if (beating) return;
      beating = true;
      beat()
        .then((ours) => {
          if (!ours) lost.abort(new Error('the lease was lost'));
        })
        .catch(() => undefined)
        .finally(() => {
          beating = false;
        });
    },
    Math.max(20, leaseMs / 3),
  );
  return { signal: lost.signal, stop: () => clearInterval(timer) };
}
