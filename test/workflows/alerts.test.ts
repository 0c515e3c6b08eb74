import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { defaultPayloadConverter } from '@temporalio/common';
import { orderLimits } from '../../core/policy.ts';
import { replayGate } from '../../replay/gate/gate.ts';
import { asType } from '../../replay/history/as-type.ts';
import { anOrder } from '../support/orders.ts';
import { workflowBundle } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { alertsOn, stalledQuery } from './alert-texts.ts';
import { nextSignal } from './cases/workflows.ts';
import { openWorkshop, type Workshop } from './cases/workshop.ts';

/** Five seconds is the SDK's own limit, which takes another but has none in its types. */
const HASTY = { maxCachedWorkflows: 100, isolateExecutionTimeout: '300ms' };

let workshop: Workshop;
before(async () => {
  workshop = await openWorkshop();
});
after(() => workshop.close());

suite('B29: a run whose code computes without end', () => {
  test('stands still, sets off the alert on its text, and is in the list of those that do', async () => {
    const handles = new Map<string, string>();
    for (const type of ['parses', 'throws']) handles.set(type, await workshop.start(type));
    const query = await stalledQuery();
    const failures = await workshop.working(async () => {
      const messages = new Map<string, string>();
      for (const [type, workflowId] of handles) {
        messages.set(type, await until(`${type} fails`, () => failedTask(workflowId)));
        const own = `WorkflowId = '${workflowId}' AND ${query}`;
        await until(`${type} is listed`, async () => {
          return (await workshop.client.workflow.count(own)).count === 1;
        });
      }
      return messages;
    }, HASTY);
    for (const id of handles.values()) await workshop.client.workflow.getHandle(id).terminate();
    assert.deepEqual(await alertsOn(failures.get('parses') ?? ''), ['takes long']);
    // No text of ours can know what somebody throws: the list of runs finds it, above.
    assert.match(failures.get('throws') ?? '', /no budget/);
    assert.deepEqual(await alertsOn(failures.get('throws') ?? ''), []);
  });

  test('is told from one whose code does not fit its history', async () => {
    const workflowId = await workshop.start('remembers');
    await workshop.working(async () => {
      const handle = workshop.client.workflow.getHandle(workflowId);
      await handle.signal(nextSignal);
      await handle.result();
    });
    const other = asType(await workshop.history(workflowId), 'readyTooLate');
    const { failures } = await replayGate(workshop.bundle, [other]);
    assert.equal(failures.length, 1);
    assert.deepEqual(await alertsOn(failures[0]?.error ?? ''), ['does not fit']);
  });
});

suite('B29: parsing stays out of workflows', () => {
  test('the bundle has neither a parser nor the code that reads files', async () => {
    const bundle = await workflowBundle();
    const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
    // What it does have, to show that modules are found by their path.
    assert.ok(code.includes('core/order/totals.ts'));
    for (const module of ['core/order/read', 'node_modules/saxes']) {
      assert.ok(!code.includes(module), `${module} is in the bundle`);
    }
  });

  test('the largest order there can be is an input that takes no time to read', async () => {
    const order = anOrder({ lines: orderLimits.maxLines });
    const { data } = defaultPayloadConverter.toPayload(order) ?? {};
    assert.ok((data?.length ?? Infinity) < 2_000_000, `${data?.length} bytes`);
    assert.throws(() => anOrder({ lines: orderLimits.maxLines + 1 }), /2,?500|lines/);
  });
});

/** What the run's first failed task says. */
async function failedTask(workflowId: string): Promise<string | undefined> {
  const { history } = await workshop.history(workflowId);
  const failed = history.events?.find((event) => event.workflowTaskFailedEventAttributes);
  return failed?.workflowTaskFailedEventAttributes?.failure?.message ?? undefined;
}
