import { IMPLEMENTATIONS } from '../core/contract.ts';
import {
  approve,
  enter,
  killTheWorker,
  passTheWeeks,
  submitOrders,
  untilAtRest,
  type Actor,
} from './demo/acts.ts';
import { Narrator } from './demo/narrator.ts';
import { judge, tableOf } from './demo/verdict.ts';
import { Ground } from './world/ground.ts';
import { openWorld } from './world/open.ts';

/**
 * `npm run demo`: the same five orders on chain, queue and temporal; a worker of each killed in the
 * middle, a person's answer, weeks that pass. Exits 0 only when everything it shows is as it must be,
 * what the chain doubles and loses included; 1 otherwise, 128 + n after signal n. Leaves nothing running.
 */
const DAYS_AHEAD = 25;
const DAY_MS = 86_400_000;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const narrator = new Narrator();
const ground = new Ground({ onProgress: (line) => narrator.say(line) });

const interrupted = Promise.withResolvers<number>();
for (const [signal, exitCode] of Object.entries(SIGNALS)) {
  process.once(signal, () => {
    narrator.say(`${signal}: stopping everything`);
    interrupted.resolve(exitCode);
  });
}
let exitCode = 1;
try {
  exitCode = await Promise.race([perform(), interrupted.promise]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
} finally {
  await ground.stop();
}
// What an interruption left hanging in the air has nothing to talk to any more.
process.exit(exitCode);

async function perform(): Promise<number> {
  await ground.lay();
  narrator.say(`Temporal's web page, while this runs: ${ground.stack.uiUrl}`);
  const chargeOn = new Date(Date.now() + DAYS_AHEAD * DAY_MS).toISOString().slice(0, 10);
  narrator.say('Opening one world each for chain, queue and temporal: partners, a worker');
  const actors = await Promise.all(
    IMPLEMENTATIONS.map(async (implementation) => {
      // Longer than the slowest step of the chain, where nothing extends it: 240 prices.
      const workerEnv = implementation === 'chain' ? { Q2T_VISIBILITY_MS: '10000' } : {};
      return enter(await openWorld(ground, implementation, { workerEnv }), narrator, chargeOn);
    }),
  );
  narrator.say(
    'Five orders to each: one line, 240 lines, above the limit, charge due later, refused',
  );
  await onAll(actors, submitOrders);
  await onAll(actors, killTheWorker);
  await onAll(actors, approve);
  await onAll(actors, passTheWeeks);
  await onAll(actors, untilAtRest);
  const rows = (await Promise.all(actors.map(judge))).flat();
  console.log(tableOf(rows));
  const right = rows.every(({ wrong }) => wrong.length === 0);
  narrator.say(
    right
      ? 'All as it must be; the partners did the counting.'
      : 'Something is WRONG: see the table.',
  );
  return right ? 0 : 1;
}

async function onAll(actors: Actor[], act: (actor: Actor) => Promise<void>): Promise<void> {
  await Promise.all(actors.map(act));
}
