import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { openTemporal } from '../../client/pipelines/temporal.ts';
import type { Pipeline, Position } from '../../core/contract.ts';
import { businessKey, type OrderId } from '../../core/identity.ts';
import { orderIdOf } from '../../core/order/run-input.ts';
import type { Order } from '../../core/order/schema.ts';
import type { Policy } from '../../core/policy.ts';
import type { FaultSpec } from '../../partners/faults.ts';
import { controlPartners, type PartnersControl } from '../../partners/control.ts';
import type { SupervisedProcess } from '../../stack/process.ts';
import { startStack, type Stack } from '../../stack/stack.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { until } from '../support/until.ts';
import { ONCE } from '../../lab/observe/effects.ts';
import { happened } from '../support/counts.ts';

const LIMIT_MS = 90_000;
/** A killed server stays away for longer than a few quick attempts. */
const policy: Policy = {
  ...quickPolicy,
  maxAttempts: 100,
  retryMaxMs: 1_000,
  workflowTaskTimeoutMs: 2_000,
  partnerTimeoutMs: 20_000,
  attemptTimeoutMs: 60_000,
};

// One after the other: each kills something that the others need.
suite('an order survives', { concurrency: false }, () => {
  let dataDir: string;
  let stack: Stack;
  let pipeline: Pipeline;
  let partners: PartnersControl;
  let worker: SupervisedProcess;

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'q2t-processes-'));
    const bundle = process.env['Q2T_TEST_BUNDLE'];
    stack = await startStack({
      dataDir,
      workers: { temporal: 1 },
      workerEnv: {
        Q2T_STICKY_TIMEOUT_MS: '300',
        ...(bundle !== undefined && { Q2T_BUNDLE: bundle }),
      },
    });
    const [first] = stack.workers;
    assert.ok(first);
    worker = first;
    const { address, namespace } = stack.temporal;
    pipeline = await openTemporal({ address, namespace, confirmWithinMs: 500 });
    partners = controlPartners(stack.partnersUrl);
  });

  after(async () => {
    await pipeline.close();
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  function untilAt(id: OrderId, wanted: (position: Position) => boolean): Promise<Position> {
    return until(`${id.orderRef} where it should be`, async () => {
      // A server that was just killed answers nobody.
      const answer = await pipeline.where(id).catch(() => undefined);
      return isPosition(answer) && wanted(answer.position) && answer.position;
    });
  }

  async function completedOnce(id: OrderId): Promise<void> {
    const { outcome } = await untilAt(id, ({ status }) => status === 'ended');
    assert.equal(outcome, 'completed');
    const counts = await partners.counts(businessKey(id));
    assert.deepEqual(happened(counts), ONCE);
  }

  /** Submits an order of which the partner holds one request. Returns when it does. */
  async function heldAt(
    fault: Pick<FaultSpec, 'partner' | 'operation' | 'effect'>,
  ): Promise<OrderId> {
    const order = anOrder();
    const id = orderIdOf(order);
    await partners.setFault({ ...fault, reference: businessKey(id), times: 1 });
    await submit(order);
    await partners.waitUntilHeld({ reference: businessKey(id) }, LIMIT_MS);
    return id;
  }

  async function submit(order: Order): Promise<OrderId> {
    assert.equal((await pipeline.submit(order, policy)).kind, 'started');
    return orderIdOf(order);
  }

  test('the SIGKILL of its worker after the supplier, which takes no keys, has placed the order', async () => {
    const id = await heldAt({
      partner: 'supplier',
      operation: 'place',
      effect: { kind: 'hang-after' },
    });
    await worker.kill();
    await partners.clearFault();
    await worker.start();
    await completedOnce(id);
  });

  test('the SIGKILL of its worker before the payment has acted, the request landing late', async () => {
    const id = await heldAt({
      partner: 'payments',
      operation: 'charge',
      effect: { kind: 'hang-before' },
    });
    await worker.kill();
    await worker.start();
    await untilAt(id, ({ step }) => step !== 'charge');
    // The successor has charged; now the dead worker's request arrives, under the same key.
    await partners.clearFault();
    await completedOnce(id);
  });

  test('the SIGKILL of its worker before the supplier has acted, the request landing within the settle time', async () => {
    const id = await heldAt({
      partner: 'supplier',
      operation: 'place',
      effect: { kind: 'hang-before' },
    });
    await worker.kill();
    await partners.clearFault();
    await worker.start();
    await completedOnce(id);
  });

  test('a new worker while its approval is pending, and where answers with none alive', async () => {
    const id = await submit(anOrder({ unitPrice: '5000.00' }));
    const { waitingFor } = await untilAt(id, (position) => position.waitingFor?.kind === 'person');
    assert.equal(waitingFor?.kind, 'person');
    await worker.kill();
    const withoutWorker = await pipeline.where(id);
    assert.ok(isPosition(withoutWorker));
    assert.deepEqual(withoutWorker.position.waitingFor, waitingFor);
    const { gate, gateVersion } = waitingFor;
    const answer = { gate, gateVersion, decision: 'approve', by: 'Ada' } as const;
    assert.equal((await pipeline.decide(id, answer)).kind, 'not-confirmed');
    await worker.start();
    await accepted(() => pipeline.decide(id, answer));
    await completedOnce(id);
    const { history } = await untilAt(id, ({ status }) => status === 'ended');
    assert.equal(history.filter(({ type }) => type === 'decided').length, 1);
  });

  test('the SIGKILL of the Temporal server, whose data is in a file', async () => {
    const id = await heldAt({
      partner: 'warehouse',
      operation: 'reserve',
      effect: { kind: 'hang-after' },
    });
    await stack.temporalServer.process.kill();
    await partners.clearFault();
    await stack.temporalServer.process.start();
    await completedOnce(id);
  });

  test('the SIGKILL of Postgres before its invoice is written', async () => {
    const id = await heldAt({
      partner: 'supplier',
      operation: 'place',
      effect: { kind: 'hang-after' },
    });
    await stack.postgres.process.kill();
    await partners.clearFault();
    const { lastFailure } = await untilAt(
      id,
      ({ step, status }) => step === 'invoice' && status === 'retrying',
    );
    assert.match(lastFailure ?? '', /database/i);
    await stack.postgres.process.start();
    await completedOnce(id);
  });
});

function isPosition(answer: unknown): answer is { kind: 'position'; position: Position } {
  return (
    typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'position'
  );
}

async function accepted(decide: () => Promise<{ kind: string }>): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline;) {
    const { kind } = await decide();
    if (kind === 'accepted') return;
    assert.equal(kind, 'not-confirmed');
  }
  assert.fail('the answer was never confirmed');
}
