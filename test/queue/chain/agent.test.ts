import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, afterEach, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { AgentPipeline } from '../../../core/agent/contract.ts';
import { requestIdOf } from '../../../core/agent/identity.ts';
import type { AgentAsk } from '../../../core/agent/input.ts';
import { openChainAgent } from '../../../queue/chain/agent/open.ts';
import type { AgentLink } from '../../../queue/chain/agent/turn.ts';
import { quickPolicy } from '../../support/orders.ts';
import { until } from '../../support/until.ts';
import { askOf } from '../../unit/agent/runs.ts';
import { openBench } from '../support/bench.ts';
import type { QueueBench } from '../support/bench.ts';
import { idleEngine } from '../support/engine.ts';
import type { IdleEngine } from '../support/engine.ts';

const WORKER = fileURLToPath(new URL('../../../workers/chain.ts', import.meta.url));

describe("the chain's buying agent", () => {
  let bench: QueueBench;
  let idle: IdleEngine;
  let chain: AgentPipeline;
  let asked = 0;
  const kills = new Set<() => Promise<void>>();
  before(async () => {
    bench = await openBench({ workers: 0 });
    idle = await idleEngine(bench);
    chain = await openChainAgent({ databaseUrl: bench.databaseUrl, profile: 'sqs' });
  });
  afterEach(async () => {
    for (const kill of kills) await kill();
    await bench.partners.clearFault();
  });
  after(async () => {
    await chain.close();
    await idle.close();
    await bench.close();
  });

  async function startWorker(visibilityMs = 3_000): Promise<() => Promise<void>> {
    const child = spawn(process.execPath, [WORKER], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: bench.databaseUrl,
        PARTNERS_URL: bench.partnersUrl,
        Q2T_TRANSPORT_PROFILE: 'sqs',
        Q2T_AGENT_VISIBILITY_MS: String(visibilityMs),
      },
    });
    const exited = once(child, 'exit');
    const kill = async () => {
      kills.delete(kill);
      child.kill('SIGKILL');
      await exited;
    };
    kills.add(kill);
    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        if (line.includes('"ready"')) resolve();
      });
    });
    return kill;
  }

  /** Asked under a reference of its own. */
  async function ask(words: string): Promise<string> {
    asked += 1;
    const { request, ...rest }: AgentAsk = askOf(words);
    const own = { ...request, requestRef: `REQ-${asked}` };
    await chain.ask({ ...rest, request: own, policy: quickPolicy });
    return `${own.buyer.id}/${own.requestRef}`;
  }
  const drained = (queue: string) =>
    until(`${queue} is empty`, async () => {
      const { available, inFlight, delayed } = await idle.engine.transport.counts(queue);
      return available + inFlight + delayed === 0;
    });
  const completions = async (reference: string) => {
    const paid = await bench.partners.effects({ partner: 'model', reference });
    return paid.map(({ key = '' }) => key.slice(reference.length + 1));
  };
  const lastDead = async () => {
    const dead = (await idle.engine.transport.deadMessages('chain-agents')).at(-1);
    assert.ok(dead);
    return { reason: dead.reason, link: dead.body as AgentLink, body: JSON.stringify(dead.body) };
  };

  test('a small request becomes an order of the chain, each turn asked once', async () => {
    await startWorker();
    const reference = await ask('3 office chairs');
    await drained('chain-agents');
    await drained('chain');
    const turns = await completions(reference);
    assert.deepEqual(turns, ['t1/model', 't2/model', 't3/model', 't4/model']);
    const { order, charge, mail } = await bench.partners.counts(`${reference}-PO`);
    assert.deepEqual({ order, charge, mail }, { order: 1, charge: 1, mail: 1 });
  });

  test('cannot wait for a person: an order above the limit is a dead letter, and so is a question', async () => {
    await startWorker();
    for (const words of ['40 office chairs', '3 office chairs, ask me first']) {
      await ask(words);
      await drained('chain-agents');
      assert.match((await lastDead()).reason, /nowhere to wait for a person/);
    }
  });

  test('says what it cannot do, and why', async () => {
    const id = requestIdOf(askOf().request);
    const action = { by: 'ada', why: 'x' };
    const said = [
      await chain.where(id),
      await chain.answer(id, { gate: 'question', gateVersion: 1, by: 'ada', text: 'blue' }),
      await chain.cancel(id, 'ada', 'x'),
      await chain.transcript(id),
      await chain.list(),
      await chain.deadLetters.list(),
      await chain.deadLetters.replay(id, action),
      await chain.deadLetters.discard(id, action),
    ];
    for (const one of said) assert.ok(one.kind === 'cannot' && one.reason.length > 20);
  });
});
