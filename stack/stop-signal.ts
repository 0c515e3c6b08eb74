/** Closer together than this, two signals are one: a terminal sends Ctrl-C to several, and npm passes it on. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Calls `stop` at the first SIGINT, SIGTERM or SIGHUP and `force` at a later one, when somebody doesn't
 * want to wait. Returns how to stop listening.
 */
export function onStopSignal({ stop, force }: { stop: () => void; force: () => void }): () => void {
  let first: number | undefined;
  const heard = () => {
    if (first === undefined) {
      first = Date.now();
      stop();
    } else if (Date.now() - first > SAME_SIGNAL_MS) force();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, heard);
  return () => {
    for (const signal of signals) process.off(signal, heard);
  };
}
