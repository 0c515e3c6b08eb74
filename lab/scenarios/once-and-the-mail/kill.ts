import { LIMIT_MS } from '../../observe/until.ts';
import type { Stage } from '../../scenario.ts';
import { runAmong } from '../../wire/postgres/naming.ts';
import { startPostgresProxy, type PostgresProxy } from '../../wire/postgres/proxy.ts';
import type { World } from '../../world/world.ts';

/** Where a process dies with an invoice in its hands. The commit is that of the invoice's row. */
export const POINTS = ['before the commit', 'after the commit', 'after the mail'] as const;
export type Point = (typeof POINTS)[number];

/** Who is killed, and with which invoices in its hands. */
export interface Victim {
  /** The table of the invoice's row. */
  table: string;
  /** The business key of the order whose invoice stands at that point. */
  at: Partial<Record<Point, string>>;
  /** Makes the process work on that order's invoice. */
  bring: (reference: string) => Promise<unknown>;
  /** SIGKILL; resolves when it is gone. */
  kill: () => Promise<unknown>;
}

/** A wire of our own before Postgres: Temporal's workers write the invoice's row there too. */
export async function openWire(
  { cleanUp }: Stage,
  { databaseUrl }: World,
  references: readonly string[],
): Promise<PostgresProxy> {
  const { hostname: host, port } = new URL(databaseUrl);
  const upstream = { host, port: Number(port) };
  const wire = await startPostgresProxy({ upstream, runOf: runAmong(new Set(references)) });
  cleanUp(() => wire.close());
  return wire;
}

/** Brings an invoice to each of the points, all in the hands of one process, and kills it there. */
export async function killAt(
  { partners }: World,
  wire: PostgresProxy,
  { table, at, bring, kill }: Victim,
): Promise<void> {
  const gone = Promise.withResolvers<void>();
  const commitOf = (reference: string) => (boundary: { run: string | undefined; what: string }) =>
    boundary.run === reference && boundary.what.includes(table);

  const mailed = at['after the mail'];
  if (mailed !== undefined) {
    const send = { operation: 'send', reference: mailed } as const;
    await partners.setFault({ ...send, times: 1, effect: { kind: 'hang-after' } });
    await bring(mailed);
    await partners.waitUntilHeld({ ...send, acted: true }, LIMIT_MS);
  }
  const uncommitted = at['before the commit'];
  if (uncommitted !== undefined) {
    const commit = wire.arm({
      at: commitOf(uncommitted),
      side: 'before',
      action: 'delay',
      meanwhile: () => gone.promise,
    });
    await bring(uncommitted);
    await commit.fired;
  }
  const committed = at['after the commit'];
  if (committed !== undefined) {
    // The last one stops everything, or another pair of hands would find the mail in the outbox.
    const commit = wire.arm({
      at: commitOf(committed),
      side: 'after',
      action: 'stop-the-world',
      meanwhile: async () => void (await kill()),
    });
    await bring(committed);
    await commit.done;
  } else {
    await kill();
  }
  // Before the commit that waits is let go: it must not reach the server any more.
  wire.cut();
  gone.resolve();
  await partners.clearFault();
}
