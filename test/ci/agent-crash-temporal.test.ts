import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { agentRunIdOf, orderIdOfRequest, requestIdOf } from '../../core/agent/identity.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { ONCE } from '../../lab/observe/effects.ts';
import { failureInWords, replayGate } from '../../replay/gate/gate.ts';
import { anAsk, openAgentBench, REQUEST } from '../support/agent-bench.ts';
import type { AgentBench } from '../support/agent-bench.ts';
import { happened } from '../support/counts.ts';
import { until } from '../support/until.ts';
import { workflowBundle } from '../support/temporal.ts';
import { startWorkerProcess } from '../workflows/worker-script.ts';

const LIMIT_MS = 60_000;
/** On a machine with other work too: a worker is not taken for lost that is only late, and what is held stays so. */
const policy = { heartbeatMs: 4_000, partnerTimeoutMs: 30_000, workflowTaskTimeoutMs: 1_000 };

let bench: AgentBench;
before(async () => {
  bench = await openAgentBench({ worker: false });
});
after(() => bench.close());

async function resetToStart(id: OrderId): Promise<void> {
  const workflowId = agentRunIdOf(id);
  const { events } = await bench.client.workflow.getHandle(workflowId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await bench.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: first?.eventId ?? null,
  });
}

async function replayed(id: OrderId): Promise<string[]> {
  const workflowId = agentRunIdOf(id);
  const history = await bench.client.workflow.getHandle(workflowId).fetchHistory();
  const known = { name: id.orderRef, workflowId, history };
  const { failures } = await replayGate(await workflowBundle(), [known], { cut: true });
  return failures.map(failureInWords);
}

test('a worker that is killed while the model answers loses that one call, which is charged; its store is shared', async () => {
  const ask = anAsk(REQUEST, { policy, limits: { modelTimeoutMs: 30_000 } });
  const id = requestIdOf(ask.request);
  const faultId = await bench.partners.setFault({
    partner: 'model',
    operation: 'complete',
    reference: businessKey(id),
    skip: 1,
    times: 1,
    effect: { kind: 'hang-after' },
  });
  const secret = 'sk-not-to-be-seen-anywhere';
  const first = startWorkerProcess(bench, {
    Q2T_STORE_DIR: bench.storeDir,
    OPENAI_BASE_URL: `${bench.partnersUrl}/model/v1`,
    OPENAI_API_KEY: secret,
    AGENT_MODEL: 'scripted-1',
  });
  await bench.agent.ask(ask);
  await bench.partners.waitUntilHeld({ faultId }, LIMIT_MS);
  first.kill('SIGKILL');
  const { stdout } = await first;
  await bench.startWorker();
  const { outcome, position } = await bench.result(id);
  assert.equal(outcome, 'completed');
  assert.equal(position.spent.lostCalls, 1);
  const { completion } = await bench.partners.counts(businessKey(id));
  assert.equal(position.spent.calls + position.spent.lostCalls, completion);
  const history = await bench.client.workflow.getHandle(agentRunIdOf(id)).fetchHistory();
  assert.ok(!(JSON.stringify(history) + stdout).includes(secret));
});

test('a run that is reset pays its model again and finds its order, which is carried out once', async () => {
  const ask = anAsk();
  const id = requestIdOf(ask.request);
  await bench.agent.ask(ask);
  await bench.result(id);
  const { completion } = await bench.partners.counts(businessKey(id));
  await resetToStart(id);
  const { outcome, position } = await bench.result(id);
  assert.equal(outcome, 'completed');
  const counts = await bench.partners.counts(businessKey(id));
  assert.equal(counts.completion, 2 * completion);
  const orderId = orderIdOfRequest(id);
  assert.deepEqual(position.order, { id: orderId, started: true });
  assert.deepEqual(happened(await bench.partners.counts(businessKey(orderId))), ONCE);
  assert.deepEqual(await replayed(id), []);
});

test('a run that is reset while its order is under way follows it, and cancels it when it is cancelled', async () => {
  const ask = anAsk(REQUEST, { policy });
  const id = requestIdOf(ask.request);
  const orderId = orderIdOfRequest(id);
  const faultId = await bench.partners.setFault({
    partner: 'payments',
    operation: 'charge',
    reference: businessKey(orderId),
    effect: { kind: 'hang-after' },
  });
  await bench.agent.ask(ask);
  await bench.partners.waitUntilHeld({ faultId }, LIMIT_MS);
  await resetToStart(id);
  await bench.until(id, ({ history }) => history.some(({ type }) => type === 'reset'));
  const { status } = await bench.until(id, ({ order }) => order?.started === true);
  assert.equal(status, 'running');
  await bench.agent.cancel(id, 'Ann', 'no need');
  await until('the order hears of it', async () => {
    const found = await bench.orders.where(orderId);
    if (found.kind !== 'position') return false;
    return found.position.history.some(({ type }) => type === 'cancel-requested');
  });
  await bench.partners.clearFault(faultId);
  const { outcome, reason } = await bench.result(id);
  assert.equal(outcome, 'cancelled');
  assert.match(reason, /no need/);
  const { charge, refund } = await bench.partners.counts(businessKey(orderId));
  assert.equal(charge, refund);
});
