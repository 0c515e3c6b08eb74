import { join } from 'node:path';
import { execa } from 'execa';
import pg from 'pg';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { orderIdOf } from '../../core/identity.ts';
import { NODE_FLAGS, projectRoot } from '../../stack/runtime.mjs';
import { countsOnce } from '../observe/until.ts';
import { startPostgresProxy, type PostgresProxy } from '../wire/postgres/proxy.ts';
import type { Outcome, Scenario, Stage } from '../scenario.ts';
import type { World } from '../world/world.ts';
import { PRODUCER_TABLES, type ProducerJob } from './producer-dies/job.ts';

const SCRIPT = join(projectRoot, 'lab/scenarios/producer-dies/producer.ts');

export const producerDies: Scenario = {
  name: 'producer-dies',
  claim: 'what a producer has committed is carried out, also when it dies before it can publish',
  about: 'the producer writes the message and commits its transaction: together, or there is a gap',
  fault: 'SIGKILL of the producer on both sides of the commit of its own row',
  counts: "the producer's rows against the orders that the supplier has",
  code: {
    chain: ['queue/transport/send.ts', 'lab/scenarios/producer-dies/producer.ts'],
    queue: ['queue/runs/submit.ts', 'lab/scenarios/producer-dies/producer.ts'],
    temporal: ['client/pipelines/temporal/submit.ts', 'lab/scenarios/producer-dies/producer.ts'],
  },
  expected: {
    chain: { verdict: 'held' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  run: (stage) => dies(stage, stage.implementation === 'temporal' ? 'outbox' : 'same-transaction'),
  controls: (['chain', 'queue', 'temporal'] as const).map((on) => ({
    on,
    without: { name: on === 'temporal' ? 'the outbox' : 'the shared transaction' },
    breaks: 'order lost',
    run: (stage) => dies(stage, 'publish'),
  })),
};

/** One producer killed before its commit, one after it, one left alone; then the shop starts again. */
async function dies(stage: Stage, way: ProducerJob['way']): Promise<Outcome> {
  const world = await stage.world();
  const shop = await openShop(stage, world, way);
  const [before, after, alone] = ['PO-BEFORE', 'PO-AFTER', 'PO-ALONE'].map((ref) =>
    world.order(ref),
  );
  if (!before || !after || !alone) throw new Error('three orders make three orders');
  for (const [side, order] of [
    ['before', before],
    ['after', after],
  ] as const) {
    await shop.killedAtCommit(side, order);
    await stage.say(`producer of ${order.orderRef} killed ${side} its commit`);
  }
  await shop.run(alone);
  await stage.say('the producer is started again, and a worker');
  await shop.run();
  await world.startWorker();

  const rows = await shop.rows();
  const orders = new Map<string, number>();
  for (const order of [alone, after, before]) {
    const wanted = rows.includes(order.orderRef) ? 1 : 0;
    // Published last and through: what was published before it is through soon, or never was.
    const limitMs = order === alone ? 60_000 : 20_000;
    const counts = await countsOnce(world, orderIdOf(order), ({ mail }) => mail >= wanted, limitMs);
    orders.set(order.orderRef, counts.order);
  }
  const of = (ref: string) => orders.get(ref) ?? 0;
  const lost = rows.filter((ref) => of(ref) === 0).length;
  const twice = rows.filter((ref) => of(ref) > 1).length;
  const ghosts = [...orders.keys()].filter((ref) => !rows.includes(ref) && of(ref) > 0).length;
  const counted = { committed: rows.length, lost, twice, 'without a row': ghosts };
  if (lost > 0) return { verdict: 'broke', how: 'order lost', counted };
  if (twice > 0) return { verdict: 'broke', how: 'placed twice', counted };
  if (ghosts > 0) return { verdict: 'broke', how: 'an order that nobody committed', counted };
  return { verdict: 'held', counted };
}

async function openShop({ cleanUp }: Stage, world: World, way: ProducerJob['way']) {
  const { hostname: host, port } = new URL(world.databaseUrl);
  const wire = await startPostgresProxy({
    upstream: { host, port: Number(port) },
    runOf: ({ params }) => params.find((param) => param?.startsWith('PO-')) ?? undefined,
  });
  cleanUp(() => wire.close());
  const pool = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
  pool.on('error', () => undefined);
  cleanUp(() => pool.end());
  await pool.query(PRODUCER_TABLES);
  const start = (order?: ReturnType<World['order']>) =>
    startProducer(world, wire, way, order && { order, policy: world.policy });
  return {
    /** Runs a producer to its end. */
    run: async (order?: ReturnType<World['order']>) => {
      const { failed, stderr } = await start(order);
      if (failed) throw new Error(`the producer failed: ${stderr}`);
    },
    /** Runs one that is killed on that side of the commit of its row. */
    async killedAtCommit(side: 'before' | 'after', order: ReturnType<World['order']>) {
      const producer = start(order);
      const armed = wire.arm({
        at: ({ run }) => run === order.orderRef,
        side,
        action: 'stop-the-world',
        meanwhile: async () => {
          producer.kill('SIGKILL');
          await producer;
        },
      });
      const { stderr } = await producer;
      if (armed.state !== 'fired') throw new Error(`the producer never got to commit: ${stderr}`);
      await armed.done;
    },
    async rows() {
      const { rows } = await pool.query<{ ref: string }>('SELECT order_ref AS ref FROM request');
      return rows.map(({ ref }) => ref);
    },
  };
}

function startProducer(
  world: World,
  wire: PostgresProxy,
  way: ProducerJob['way'],
  request: ProducerJob['request'],
) {
  const job: ProducerJob = {
    on: world.implementation,
    way,
    ...(request && { request }),
    databaseUrl: wire.url(world.databaseUrl, 'producer'),
    pipelineUrl: world.databaseUrl,
    temporal: { ...world.temporal, taskQueue: world.name },
  };
  return execa(process.execPath, [...NODE_FLAGS, SCRIPT], {
    env: { ...isolatedEnv(process.env), Q2T_LAB_PRODUCER: JSON.stringify(job) },
    extendEnv: false,
    cwd: projectRoot,
    reject: false,
  });
}
