import { openFileStore } from '../../../agent/store/files.ts';
import { agentRunIdOf } from '../../../core/agent/identity.ts';
import type { ClaimCheckStore } from '../../../core/agent/store.ts';
import type { OrderId } from '../../../core/identity.ts';
import { connectModel } from '../../../partners/clients/model.ts';
import { MAIL_QUEUE } from '../../../queue/joins/children.ts';
import { workOnChild } from '../../../queue/joins/work-on-child.ts';
import type { Engine } from '../../../queue/runs/engine.ts';
import { handleWakeUp } from '../../../queue/runs/handle-wake-up.ts';
import { AGENTS_QUEUE, ORDERS_QUEUE } from '../../../queue/runs/inbox.ts';
import { sendMail } from '../../../queue/steps/send-mail.ts';
import { openAgentBench } from './agent-bench.ts';
import type { AgentBench } from './agent-bench.ts';
import { idleEngine } from './engine.ts';
import { mortal } from './mortal.ts';
import type { Death, MortalEngine } from './mortal.ts';

export const HIDDEN = { max: 1, visibilityMs: 3_600_000, waitMs: 0 };

/** An engine that does nothing by itself, so that a test says who lives for how long. */
export interface AgentByHand {
  bench: AgentBench;
  engine: Engine;
  store: ClaimCheckStore;
  lose: (id: OrderId) => Promise<void>;
  live: (life: MortalEngine) => Promise<void>;
  /** A life from the moment at which the run's worker before is known to be lost. */
  liveOnce: (id: OrderId, death?: Death) => Promise<MortalEngine>;
  close(): Promise<void>;
}

export async function openAgentByHand(): Promise<AgentByHand> {
  const bench = await openAgentBench({ workers: 0 });
  const idle = await idleEngine(bench.orders, 'test/agent');
  const store = await openFileStore(bench.parts.storeDir);
  const model = connectModel(bench.parts.model);
  const engine = { ...idle.engine, agent: { store, model } };

  /** Lets the lease run out, as if the worker had died a while ago, and messages come back. */
  async function lose(id: OrderId): Promise<void> {
    await bench.orders.pool.query(
      `UPDATE queue.run SET lease_until = statement_timestamp() - interval '1 second'
       WHERE id = $1 AND lease_until IS NOT NULL`,
      [agentRunIdOf(id)],
    );
    await bench.orders.pool.query('UPDATE queue.message SET visible_at = statement_timestamp()');
  }

  /** Everything that can be received now, until there is nothing or the one who has the agent is dead. */
  async function live(life: MortalEngine): Promise<void> {
    const { transport } = engine;
    for (;;) {
      const [wakeUp] = await transport.receive(AGENTS_QUEUE, HIDDEN);
      const [order] = wakeUp ? [] : await transport.receive(ORDERS_QUEUE, HIDDEN);
      const [mail] = wakeUp || order ? [] : await transport.receive(MAIL_QUEUE, HIDDEN);
      if (!wakeUp && !order && !mail) return;
      try {
        if (wakeUp) await handleWakeUp(life.engine, AGENTS_QUEUE, wakeUp);
        if (order) await handleWakeUp(engine, ORDERS_QUEUE, order);
        if (mail) await workOnChild(engine, MAIL_QUEUE, sendMail, mail);
      } catch (error) {
        // What a dead process throws nobody sees.
        if (!life.dead) throw error;
      }
      if (life.dead) return;
    }
  }

  async function liveOnce(id: OrderId, death?: Death): Promise<MortalEngine> {
    await lose(id);
    const life = mortal(engine, death);
    await live(life);
    return life;
  }

  return {
    bench,
    engine,
    store,
    lose,
    live,
    liveOnce,
    async close() {
      await model.close();
      await idle.close();
      await bench.close();
    },
  };
}
