import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { businessKey, orderIdOf } from '../../../core/identity.ts';
import type { Order } from '../../../core/order/schema.ts';
import { judgeStep } from '../../../replay/rules/judge.ts';
import type { Prepared } from '../../../replay/rules/prepared.ts';
import { isOfStepsOnly, labelOf, type Rule } from '../../../replay/rules/rule.ts';
import { rules } from '../../../replay/rules/rules.ts';
import { until } from '../../observe/until.ts';
import { NOBODY_DIES } from '../ambiguous-charge/unhurried.ts';
import type { Stage } from '../../scenario.ts';
import type { World } from '../../world/world.ts';
import { openFolder, prepare } from './folder.ts';
import { loseAnswers, twoLines, wrongEffects } from './order.ts';
import { startQueueWorker, type Versions } from './queue-process.ts';
import { patchesOf, type Seen } from './seen.ts';

const DAY_MS = 86_400_000;

/** Retries only when the scenario moves the run's clock, so that each run stands still where it should. */
const POLICY = {
  ...NOBODY_DIES.policy,
  heartbeatMs: 60_000,
  retryInitialMs: DAY_MS,
  retryMaxMs: DAY_MS,
  maxAttempts: 3,
};

/** The two runs of an edit: one that is in the step when it comes, and one that begins with it. */
interface Pair {
  rule: Rule;
  inFlight: Order;
  fresh: Order;
}

/**
 * Every edit of a step, under a run that stands in it: the enquiry was sent, its answer was lost, and a
 * worker with the edit takes the run up. A new run loses answers too. The version of a run says which
 * edit it meets; edits of what all versions share come alone, in a worker patched as it loads.
 */
export async function trySteps(stage: Stage): Promise<Seen> {
  const folder = await openFolder(stage);
  const [prepared, world] = await Promise.all([
    prepare(stage, 'queue', folder),
    stage.world({ policy: POLICY }),
  ]);
  const pool = new pg.Pool({ connectionString: world.databaseUrl, max: 4 });
  pool.on('error', () => undefined);
  stage.cleanUp(() => pool.end());
  const bench: Bench = { stage, world, pool, prepared, seen: new Map() };
  const pairs = rules.map((rule) => ({
    rule,
    inFlight: twoLines(world, `${labelOf(rule)}-1`),
    fresh: twoLines(world, `${labelOf(rule)}-2`),
  }));
  await untilInCredit(bench, pairs);
  await stage.say(`${pairs.length} runs stand in the credit step, the answer to each enquiry lost`);
  const together = pairs.filter(({ rule }) => isOfStepsOnly(rule));
  await tryWith(bench, together, {
    versions: Object.fromEntries(
      together.map(({ rule }) => [labelOf(rule), { folder: join(folder, labelOf(rule)) }]),
    ),
  });
  for (const pair of pairs.filter((each) => !together.includes(each))) {
    const names = Object.values(versionsOf(pair.rule));
    const versions = Object.fromEntries(names.map((name) => [name, { version: name }]));
    await tryWith(bench, [pair], { versions, patches: pair.rule.queue.edits });
    await stage.say(`${pair.rule.name}: tried`);
  }
  return bench.seen;
}

interface Bench {
  stage: Stage;
  world: World;
  pool: pg.Pool;
  prepared: Record<string, Prepared>;
  seen: Map<string, ReturnType<typeof judgeStep>>;
}

/** Takes every run in flight into its credit step, with the code as it is, and ends that worker. */
async function untilInCredit(bench: Bench, pairs: readonly Pair[]): Promise<void> {
  const { stage, world, pool } = bench;
  await world.partners.setFault({ operation: 'enquire', effect: { kind: 'drop-after' } });
  for (const { rule, inFlight } of pairs) {
    await submitAs(bench, inFlight, versionsOf(rule).inFlight);
  }
  const names = new Set(pairs.map(({ rule }) => versionsOf(rule).inFlight));
  const worker = await startQueueWorker(stage, world, {
    versions: Object.fromEntries([...names].map((name) => [name, { version: '2' }])),
  });
  await until('every run in flight waits for its next attempt', async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM queue.run WHERE step = 'credit' AND parked_for = 'retry'`,
    );
    return rowCount === pairs.length ? true : undefined;
  });
  await worker.end('SIGTERM');
  await world.partners.clearFault();
}

/** Has a worker with the edits end the pairs, and says what came of each. */
async function tryWith(
  bench: Bench,
  pairs: readonly Pair[],
  code: { versions: Versions; patches?: Rule['queue']['edits'] },
): Promise<void> {
  const { stage, world, prepared, seen } = bench;
  for (const { rule, fresh } of pairs) {
    await loseAnswers(world, fresh, ['enquire', 'charge', 'place']);
    await submitAs(bench, fresh, versionsOf(rule).fresh);
  }
  const { versions, patches = [] } = code;
  const worker = await startQueueWorker(stage, world, { versions, env: patchesOf(patches) });
  await Promise.all(
    pairs.map(async ({ rule, inFlight, fresh }) => {
      const found = {
        inFlight: await problemOf(bench, inFlight),
        fresh: await problemOf(bench, fresh),
      };
      seen.set(
        rule.name,
        judgeStep({ prepared: prepared[labelOf(rule)] ?? { lint: [] }, ...found }),
      );
    }),
  );
  // It says that it goes: a version that only a dead worker has would count as served by nobody.
  await worker.end('SIGTERM');
}

async function submitAs({ world, pool }: Bench, order: Order, version: string): Promise<void> {
  await world.pipeline.submit(order, world.policy);
  const id = businessKey(orderIdOf(order));
  await pool.query('UPDATE queue.run SET version = $2 WHERE id = $1', [id, version]);
}

/** What is wrong with a run when it has ended or is stuck; undefined: nothing. Moves its clock to each retry. */
async function problemOf({ stage, world, pool }: Bench, order: Order): Promise<string | undefined> {
  const id = orderIdOf(order);
  const inWords = (text: string) =>
    text.replaceAll(world.name, 'acme').replaceAll(order.orderRef, 'PO-1');
  for (;;) {
    const answer = await world.pipeline.where(id);
    if (answer.kind !== 'position') throw new Error(`where is ${order.orderRef}: ${answer.kind}`);
    const { status, outcome, reason, waitingFor } = answer.position;
    if (status === 'stuck') {
      const why = waitingFor?.kind === 'operator' ? waitingFor.reason : '';
      return inWords(`stuck: ${why}`);
    }
    if (status === 'ended' && outcome !== 'completed') return inWords(`${outcome}: ${reason}`);
    if (status === 'ended') break;
    if (status === 'retrying') await world.forward(id, 2 * DAY_MS);
    await sleep(400, undefined, { signal: stage.signal });
  }
  const { rows } = await pool.query<{ step: string }>(
    `SELECT step FROM queue.ledger WHERE run_id = $1 AND state = 'intent' ORDER BY step`,
    [businessKey(id)],
  );
  const open = rows.map(({ step }) => `the ledger never learns what came of ${step}`);
  const effects = await wrongEffects(world, order);
  return [...(effects === undefined ? [] : [effects]), ...open].join('; ') || undefined;
}

function versionsOf(rule: Rule): { inFlight: string; fresh: string } {
  if (rule.queue.versions) return rule.queue.versions;
  const name = isOfStepsOnly(rule) ? labelOf(rule) : '2';
  return { inFlight: name, fresh: name };
}
