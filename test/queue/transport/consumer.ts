import { openPool } from '../../../queue/database.ts';
import { openTransport } from '../../../queue/transport/open.ts';

/*
 * A consumer as a process, for tests that kill it. It says each thing it does in a line of its own:
 * `got ID`, `acked ID`, `stale ID`, `back ID`. With HOLD=1 it keeps what it got and does nothing.
 */
const pool = openPool({ url: process.env['DATABASE_URL'] ?? '', applicationName: 'consumer' });
const transport = await openTransport({ pool, profile: 'postgres', pollWithoutHintsMs: 50 });
const hold = process.env['HOLD'] === '1';
const visibilityMs = Number(process.env['VISIBILITY_MS']);
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
// A killed parent closes this pipe: no consumer outlives its test.
process.stdin.resume().once('end', () => process.exit(1));

const held: { messageId: string; receipt: string }[] = [];
console.log('ready');
while (!stopping.signal.aborted) {
  const { signal } = stopping;
  const messages = await transport.receive('orders', {
    max: 5,
    visibilityMs,
    waitMs: 5_000,
    signal,
  });
  for (const { messageId, receipt } of messages) {
    console.log(`got ${messageId}`);
    if (hold) {
      held.push({ messageId, receipt });
      continue;
    }
    // Decided once: the signal may come while the answer is under way.
    const stopped = signal.aborted;
    const answer = stopped
      ? await transport.nack('orders', receipt, { delayMs: 0, uncounted: true })
      : await transport.ack('orders', receipt);
    console.log(`${answer === 'stale' ? 'stale' : stopped ? 'back' : 'acked'} ${messageId}`);
  }
}
for (const { messageId, receipt } of held) {
  await transport.nack('orders', receipt, { delayMs: 0, uncounted: true });
  console.log(`back ${messageId}`);
}
await transport.close();
await pool.end();
process.exit(0);
