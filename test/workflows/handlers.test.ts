import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { InjectedSinks, WorkflowBundle } from '@temporalio/worker';
import type { LoggerSinks } from '@temporalio/workflow';
import { orderIdOf, runIdOf } from '../../core/identity.ts';
import { copySources } from '../../replay/changes/change.ts';
import { decideUpdate } from '../../workflows/definitions.ts';
import { openBench } from '../support/order-bench.ts';
import type { OrderBench } from '../support/order-bench.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { alertsOn } from './alert-texts.ts';
import { splitWorkers, type SplitWorkers } from './split-workers.ts';

const MESSAGES = 'workflows/messages.ts';

/** The answer's handler looks something up at a partner, and is at it when the run comes to its end. */
const LOOKS_UP = [
  {
    file: MESSAGES,
    from: "import { setHandler } from '@temporalio/workflow';\n",
    to: "import { condition, setHandler } from '@temporalio/workflow';\nimport { activitiesOf, callOf } from './activities.ts';\n",
  },
  {
    file: MESSAGES,
    from: '  setHandler(decideUpdate, (answer) => takeDecision(run, answer), {\n',
    to: `  setHandler(decideUpdate, async (answer) => {
    const taken = takeDecision(run, answer);
    await condition(() => run.position.outcome !== undefined);
    await activitiesOf(run.input.policy).warehouse.release(callOf(run, true));
    return taken;
  }, {\n`,
  },
];
const WITHOUT_GUARD = {
  file: 'workflows/carry-out.ts',
  from: '  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));\n',
  to: '',
};

let bench: OrderBench;
let workers: SplitWorkers;
let code: { guarded: WorkflowBundle; unguarded: WorkflowBundle };
before(async () => {
  bench = await openBench({ worker: false });
  workers = await splitWorkers(bench);
  const copy = await copySources();
  try {
    code = {
      guarded: await copy.bundleWith({ name: 'a slow handler', edits: LOOKS_UP }),
      unguarded: await copy.bundleWith({
        name: 'a slow handler, and nobody waits for it',
        edits: [...LOOKS_UP, WITHOUT_GUARD],
      }),
    };
  } finally {
    await copy.remove();
  }
});
after(async () => {
  await workers.close();
  await bench.close();
});

suite('B5: a run that ends while the handler of an answer is at work', () => {
  test('waits for it, and the sender gets its answer', async () => {
    const { answer, outcome, warnings } = await answered(code.guarded);
    assert.deepEqual(answer, { kind: 'accepted' });
    assert.equal(outcome, 'rejected');
    assert.deepEqual(warnings, []);
  });

  test('cuts it short without the guard: the sender gets an error, and the worker’s log sets off an alert', async () => {
    const { answer, outcome, warnings } = await answered(code.unguarded);
    assert.ok(answer instanceof WorkflowUpdateFailedError, String(answer));
    assert.match(String(answer.cause), /completed before the Update completed|already completed/);
    assert.equal(outcome, 'rejected');
    assert.deepEqual(await alertsOn(warnings.join('\n')), ['cut short']);
  });
});

/** An order that is rejected, on code that takes its time with the answer. */
async function answered(workflowBundle: WorkflowBundle) {
  const order = anOrder({ unitPrice: '2000.00' });
  const id = orderIdOf(order);
  await bench.pipeline.submit(order, quickPolicy);
  const { warnings, sinks } = warningsOf();
  return workers.whileOrdersRun(
    async () => {
      await bench.until(id, ({ status }) => status === 'waiting');
      const rejected = { gate: 'approval', gateVersion: 1, decision: 'reject', by: 'Ada' } as const;
      const answer = await bench.client.workflow
        .getHandle(runIdOf(id))
        .executeUpdate(decideUpdate, { args: [rejected] })
        .catch((error: unknown) => error);
      const { outcome } = await bench.result(order);
      return { answer, outcome, warnings };
    },
    { workflowBundle, sinks },
  );
}

/** What workflows write to their worker's log, warnings only. */
function warningsOf() {
  const warnings: string[] = [];
  const ignored = { fn: () => undefined };
  const warn = { fn: (_: unknown, message: string) => void warnings.push(message) };
  const defaultWorkerLogger = {
    trace: ignored,
    debug: ignored,
    info: ignored,
    warn,
    error: ignored,
  };
  const sinks = { defaultWorkerLogger } satisfies InjectedSinks<LoggerSinks>;
  return { warnings, sinks };
}
