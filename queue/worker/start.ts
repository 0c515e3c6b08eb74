import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { openFileStore } from '../../agent/store/files.ts';
import { connectPartners } from '../../partners/clients/connect.ts';
import { connectModel } from '../../partners/clients/model.ts';
import type { PartnerName } from '../../partners/contract.ts';
import { connect } from '../connect.ts';
import { LINES_QUEUE, MAIL_QUEUE } from '../joins/children.ts';
import { workOnChild } from '../joins/work-on-child.ts';
import type { ChildCode } from '../joins/work-on-child.ts';
import type { ChildQueue } from '../joins/children.ts';
import { setRates } from '../limits/partner-limit.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { startMetricsServer } from '../metrics/server.ts';
import { checkRetention, defaultRetention } from '../pruning/retention.ts';
import type { Retention } from '../pruning/retention.ts';
import type { AgentParts, Engine } from '../runs/engine.ts';
import { handleWakeUp } from '../runs/handle-wake-up.ts';
import { AGENTS_QUEUE, ORDERS_QUEUE } from '../runs/inbox.ts';
import { oneSuspectAtATime } from '../runs/suspects.ts';
import { hasVersionFor, pipelinesOf, withoutAgent } from '../steps/pipelines.ts';
import type { Pipelines } from '../steps/pipelines.ts';
import { priceLine } from '../steps/price-line.ts';
import { sendMail } from '../steps/send-mail.ts';
import { fireDueTimers } from '../timers/fire-due.ts';
import { limitsOf } from '../transport/limits.ts';
import type { ProfileName } from '../transport/limits.ts';
import { arrive, stayPresent } from '../versions/presence.ts';
import { consume } from './consume.ts';
import { keepHouse } from './keep-house.ts';
import { repeat } from './repeat.ts';

export interface WorkerSettings {
  databaseUrl: string;
  partnersUrl: string;
  log: Logger;
  /** What the transport allows. Default `postgres`; `sqs` is for a team that will move there. */
  profile?: ProfileName;
  /** Requests a second that all workers together may send to a partner; absent: this worker sets no rates. */
  rates?: Partial<Record<PartnerName, number>>;
  /** Runs walked at the same time. */
  orders: number;
  lines: number;
  mails: number;
  /** Absent: this worker leaves the agent's runs alone. */
  agents?: AgentSettings;
  /** How long a received message is hidden before its holder extends it. */
  visibilityMs: number;
  /** Longest time a statement may take; one over a dead connection is given up 5 s later. Default 30 s. */
  statementTimeoutMs?: number;
  /** Longest time until a due timer is seen. */
  timerEveryMs: number;
  /** Port of health and metrics on 127.0.0.1; 0: a free one. Absent: none. */
  metricsPort?: number;
  /** How often the sweep, the canary, the comparison with the partners and the pruning run; 0: not in this worker. */
  housekeepingEveryMs: number;
  /** How long ended runs are kept. Default: 90 days with everything, 400 with their ledger. */
  retention?: Retention;
  pipelines?: Pipelines;
}

export interface AgentSettings {
  /** Runs of the agent walked at the same time. */
  concurrency: number;
  /** The folder of the claim-check store, which all workers share. */
  storeDir: string;
  /** Where the model is. The key is a secret. */
  model: { baseUrl: string; apiKey: string };
}

export interface RunningWorker {
  engine: Engine;
  metricsPort: number | undefined;
  /** Stops claiming, lets holders finish their step and hand back, closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts a worker on a migrated database: consumers for orders, lines, mails and the agent's runs, and the timers. Throws
 * a RangeError for a retention that is too short, an Error for a store that can't be opened, and what `pg` throws when the database can't be reached.
 */
export async function startWorker(settings: WorkerSettings): Promise<RunningWorker> {
  const { databaseUrl, partnersUrl, log, visibilityMs } = settings;
  const { profile = 'postgres', retention = defaultRetention } = settings;
  checkRetention(retention, limitsOf(profile).deadRetentionMs);
  const draining = new AbortController();
  const stop = draining.signal;
  const all = settings.pipelines ?? pipelinesOf();
  const pipelines = settings.agents ? all : withoutAgent(all);
  // Without a version for a kind of run this worker would only keep its wake-ups from those who have one.
  const agents = hasVersionFor('agent', pipelines) ? settings.agents : undefined;
  const hands = settings.orders + settings.lines + settings.mails + (agents?.concurrency ?? 0);
  const agent = agents && (await openAgentParts(agents));
  // One connection per pair of hands, and some for timers, heartbeats and metrics.
  const { pool, transport, close } = await connect(
    {
      url: databaseUrl,
      applicationName: 'q2t-queue-worker',
      maxConnections: hands + 4,
      ...(settings.statementTimeoutMs && { statementTimeoutMs: settings.statementTimeoutMs }),
    },
    { profile, listen: true, log },
  );
  if (settings.rates) await setRates(pool, settings.rates);
  const engine: Engine = {
    pool,
    transport,
    partners: connectPartners({ baseUrl: partnersUrl }),
    pipelines,
    agent,
    log,
    metrics: createMetrics(),
    worker: `${hostname()}/${process.pid}`,
    draining: stop,
    suspects: oneSuspectAtATime(),
    random: Math.random,
  };
  const common = { transport, visibilityMs, waitMs: 5_000, stop, log };
  const runs = (queue: string, concurrency: number) =>
    consume({
      ...common,
      queue,
      concurrency,
      handle: (message) => handleWakeUp(engine, queue, message),
    });
  const children = (queue: ChildQueue, concurrency: number, code: ChildCode) =>
    consume({
      ...common,
      queue,
      concurrency,
      handle: (message) => workOnChild(engine, queue, code, message),
    });
  const presence = await arrive(engine);
  const running = Promise.all([
    hasVersionFor('order', pipelines) && runs(ORDERS_QUEUE, settings.orders),
    agents && runs(AGENTS_QUEUE, agents.concurrency),
    children(LINES_QUEUE, settings.lines, priceLine),
    children(MAIL_QUEUE, settings.mails, sendMail),
    repeat('timers', settings.timerEveryMs, { stop, log }, async () => {
      const fired = await fireDueTimers(pool, transport);
      engine.metrics.timersFired.inc(fired);
      return fired > 0 ? 'more' : 'done';
    }),
    stayPresent(engine, presence),
    keepHouse(engine, { everyMs: settings.housekeepingEveryMs, retention }),
  ]);
  const server =
    settings.metricsPort === undefined
      ? undefined
      : await startMetricsServer(engine, settings.metricsPort);
  return {
    engine,
    metricsPort: server?.port,
    async stop() {
      draining.abort();
      await running;
      await server?.close();
      await engine.partners.close();
      await agent?.model.close();
      await close();
    },
  };
}

async function openAgentParts({ storeDir, model }: AgentSettings): Promise<AgentParts> {
  const store = await openFileStore(storeDir).catch((error: unknown) => {
    const hint = 'Q2T_STORE_DIR has to be a folder that this worker may write';
    throw new Error(`the store of the agent can't be opened at ${storeDir}: ${hint}`, {
      cause: error,
    });
  });
  return { store, model: connectModel(model) };
}
