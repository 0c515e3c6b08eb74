import { connect } from '../../../queue/connect.ts';
import { LimitError } from '../../../queue/transport/limits.ts';
import { QUEUES } from '../../observe/messages.ts';
import type { Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';

const SECOND_MS = 1_000;
/** One second more than SQS allows. */
const DELAY_S = 901;
const HIDDEN_S = 12 * 3_600 + 1;

/** What a queue with the limits of SQS says to a wait that is too long for it. Temporal has no such queue. */
export async function refusals(stage: Stage, world: World): Promise<Record<string, string>> {
  const [queue] = QUEUES[world.implementation];
  if (queue === undefined) return {};
  const pooling = { url: world.databaseUrl, applicationName: 'q2t-lab', maxConnections: 2 };
  const { pool, transport, close } = await connect(pooling, { profile: 'sqs' });
  stage.cleanUp(close);
  const delayed = { body: {}, delayMs: DELAY_S * SECOND_MS };
  const receive = { max: 1, visibilityMs: HIDDEN_S * SECOND_MS, waitMs: 0 };
  await refused(`a delay of ${DELAY_S} s`, transport.send(pool, queue, [delayed]));
  await refused(`${HIDDEN_S} s out of sight`, transport.receive(queue, receive));
  await stage.say(
    `refused by the queue: a delay of ${DELAY_S} s, a message hidden for over 12 hours`,
  );
  return { refused: `a delay of ${DELAY_S} s, over 12 h out of sight` };
}

async function refused(what: string, asked: Promise<unknown>): Promise<void> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof LimitError)) throw new Error(`${what} was not refused`, { cause: error });
}
