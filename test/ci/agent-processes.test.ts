import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { orderIdOfRequest } from '../../core/agent/identity.ts';
import { businessKey } from '../../core/identity.ts';
import { openAgentBench } from '../queue/support/agent-bench.ts';
import type { AgentBench } from '../queue/support/agent-bench.ts';
import { startWorkerProcess } from '../queue/support/worker-process.ts';
import type { WorkerProcess } from '../queue/support/worker-process.ts';

const LIMIT = 30_000;
const policy = { heartbeatMs: 1_000, settleMs: 300 };

describe('worker processes and the agent', () => {
  let bench: AgentBench;
  const alive = new Set<WorkerProcess>();
  before(async () => {
    bench = await openAgentBench({ workers: 0 });
  });
  after(() => bench.close());
  afterEach(async () => {
    await bench.orders.partners.clearFault();
    for (const worker of alive) {
      worker.signal('SIGKILL');
      await worker.exited;
    }
    alive.clear();
  });

  async function startWorker(): Promise<WorkerProcess> {
    const worker = await startWorkerProcess(bench.orders, {
      Q2T_STORE_DIR: bench.parts.storeDir,
      Q2T_AGENTS: '2',
    });
    alive.add(worker);
    return worker;
  }

  test('a kill while the model answers costs the call at its worst, and one more', async () => {
    const worker = await startWorker();
    // The third turn: there is a transcript to go on from.
    const faultId = await bench.orders.partners.setFault({
      partner: 'model',
      skip: 2,
      times: 1,
      effect: { kind: 'hang-after' },
    });
    const id = await bench.asked(undefined, { policy });
    await bench.orders.partners.waitUntilHeld({ faultId }, LIMIT);
    worker.signal('SIGKILL');
    await worker.exited;
    alive.delete(worker);
    await bench.orders.partners.clearFault();
    await startWorker();
    const { outcome, spent, history } = await bench.ended(id);
    assert.deepEqual([outcome, spent.calls, spent.lostCalls], ['completed', 4, 1]);
    assert.equal(await bench.completions(id), 5);
    const lost = history.find(({ type }) => type === 'calls-lost');
    assert.ok(lost?.type === 'calls-lost');
    assert.deepEqual([lost.turn, lost.lostCalls], [3, 1]);
    const { charge } = await bench.orders.partners.counts(businessKey(orderIdOfRequest(id)));
    assert.equal(charge, 1);
  });

  test('a worker that is to stop while the model answers writes the answer down first', async () => {
    const first = await bench.startWorker();
    const faultId = await bench.orders.partners.setFault({
      partner: 'model',
      times: 1,
      effect: { kind: 'hang-after' },
    });
    const id = await bench.asked(undefined, { policy });
    await bench.orders.partners.waitUntilHeld({ faultId }, LIMIT);
    const stopped = first.stop();
    await bench.orders.partners.clearFault();
    await stopped;
    const { turn, status } = await bench.position(id);
    assert.deepEqual([turn, status], [1, 'running']);
    const next = await bench.startWorker();
    const { spent } = await bench.ended(id);
    assert.deepEqual([spent.calls, spent.lostCalls, await bench.completions(id)], [4, 0, 4]);
    await next.stop();
  });

  test('a worker that can’t open its store does not start, and says which setting it is', async () => {
    const storeDir = join(import.meta.filename, 'store');
    const starting = bench.startWorker({ agents: { ...bench.parts, storeDir } });
    await assert.rejects(starting, /Q2T_STORE_DIR has to be a folder that this worker may write/);
  });
});
