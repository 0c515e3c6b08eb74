import type { Implementation } from '../../core/contract.ts';
import { CHAIN_AGENTS_QUEUE } from '../../queue/chain/agent/handle.ts';
import { CHAIN_QUEUE } from '../../queue/chain/handle.ts';
import { connect } from '../../queue/connect.ts';
import { LINES_QUEUE, MAIL_QUEUE } from '../../queue/joins/children.ts';
import { ORDERS_QUEUE } from '../../queue/runs/inbox.ts';
import type { QueueCounts } from '../../queue/transport/contract.ts';
import type { ProfileName } from '../../queue/transport/limits.ts';
import type { OpenTransport } from '../../queue/transport/open.ts';
import type { Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { until } from './until.ts';

/** The queues of each implementation; Temporal's are its own. */
export const QUEUES: Record<Implementation, readonly string[]> = {
  chain: [CHAIN_QUEUE, CHAIN_AGENTS_QUEUE],
  queue: [ORDERS_QUEUE, LINES_QUEUE, MAIL_QUEUE],
  temporal: [],
};

/** The world's transport as an operator's console has it, with the limits of `profile`. Closed with the stage. */
export async function openMessages(
  { cleanUp }: Stage,
  { databaseUrl }: World,
  profile: ProfileName = 'postgres',
): Promise<OpenTransport> {
  const pooling = { url: databaseUrl, applicationName: 'q2t-lab', maxConnections: 2 };
  const { transport, close } = await connect(pooling, { profile });
  cleanUp(close);
  return transport;
}

/** The counts of all the world's queues together; the age is that of the oldest message of them all. */
export async function countMessages(
  transport: OpenTransport,
  { implementation }: World,
): Promise<QueueCounts> {
  const each = await Promise.all(QUEUES[implementation].map((queue) => transport.counts(queue)));
  const sum = (of: (counts: QueueCounts) => number) => each.reduce((n, one) => n + of(one), 0);
  const ages = each.flatMap(({ oldestAgeMs }) => oldestAgeMs ?? []);
  return {
    available: sum(({ available }) => available),
    inFlight: sum(({ inFlight }) => inFlight),
    delayed: sum(({ delayed }) => delayed),
    dead: sum(({ dead }) => dead),
    oldestAgeMs: ages.length > 0 ? Math.max(...ages) : null,
  };
}

/** The counts as a console shows them. */
export function countsInWords({ available, inFlight, delayed, dead }: QueueCounts): string {
  return `available ${available}, in flight ${inFlight}, delayed ${delayed}, dead ${dead}`;
}

/** Waits until no message is left but dead ones, and returns the counts. Throws after the usual limit. */
export async function untilDrained(transport: OpenTransport, world: World): Promise<QueueCounts> {
  return until(`${world.implementation}: no message left`, async () => {
    const counts = await countMessages(transport, world);
    const { available, inFlight, delayed } = counts;
    return available + inFlight + delayed === 0 ? counts : undefined;
  });
}

/**
 * Waits until no worker has anything to do now: every message is delayed, dead or gone. Nothing to wait
 * for where the messages are Temporal's own. Throws after the usual limit.
 */
export async function untilQuiet(transport: OpenTransport, world: World): Promise<QueueCounts> {
  return until(`${world.implementation}: no message to be worked on`, async () => {
    const counts = await countMessages(transport, world);
    return counts.available + counts.inFlight === 0 ? counts : undefined;
  });
}
