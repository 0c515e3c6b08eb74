import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isolatedEnv } from '../../client/isolated-env.mjs';
import { orderIdOf } from '../../core/order/run-input.ts';
import { STATUSES, STEPS } from '../../core/steps.ts';
import { SIDES, keyOf, large, openSide } from './sides.ts';
import type { Side } from './sides.ts';

// What client/README.md promises, with nothing besides.
const head = {
  command: z.string(),
  implementation: z.enum(SIDES),
  exitCode: z.number(),
};
const id = z.strictObject({ buyerId: z.string(), orderRef: z.string() });
const submitted = z.strictObject({
  ...head,
  orders: z.array(
    z.strictObject({
      file: z.string(),
      order: z.string(),
      result: z.strictObject({ kind: z.literal('started'), id }),
    }),
  ),
});
const position = z.looseObject({
  id,
  step: z.enum(STEPS),
  status: z.enum(STATUSES),
  since: z.iso.datetime(),
});
const found = z.strictObject({
  ...head,
  order: z.string(),
  result: z.strictObject({ kind: z.literal('position'), position }),
});
const answered = z.strictObject({
  ...head,
  order: z.string(),
  answered: z.strictObject({ gate: z.literal('approval'), gateVersion: z.literal(1) }),
  result: z.strictObject({ kind: z.literal('accepted') }),
});
const cancelled = z.strictObject({
  ...head,
  order: z.string(),
  result: z.strictObject({
    kind: z.literal('conflict'),
    conflict: z.literal('ended'),
    reason: z.string(),
  }),
});
const listed = z.strictObject({
  ...head,
  result: z.strictObject({ kind: z.literal('runs'), runs: z.array(z.object({ id })) }),
});
const letters = z.strictObject({
  ...head,
  result: z.strictObject({ kind: z.literal('dead-letters'), deadLetters: z.array(z.unknown()) }),
});
const standing = z.strictObject({
  version: z.string(),
  state: z.enum(['current', 'ramping', 'draining', 'drained', 'inactive']),
  since: z.iso.datetime().exactOptional(),
  percent: z.int(),
  openRuns: z.int(),
  boundRuns: z.int(),
  workers: z.array(
    z.strictObject({ worker: z.string(), seenAt: z.iso.datetime(), live: z.boolean() }),
  ),
  maySwitchOff: z.strictObject({ may: z.boolean(), why: z.string() }),
});
const versions = z.strictObject({
  ...head,
  result: z.strictObject({
    kind: z.literal('versions'),
    versions: z.array(standing).min(1),
    patches: z.array(
      z.strictObject({ patch: z.string(), runsWith: z.int(), runsWithout: z.int() }),
    ),
  }),
});
const notChanged = z.strictObject({
  ...head,
  result: z.strictObject({ kind: z.literal('conflict'), reason: z.string() }),
});
const failed = z.strictObject({
  ...head,
  error: z.strictObject({ message: z.string(), hint: z.string(), faults: z.array(z.never()) }),
});

for (const on of SIDES) {
  describe(`documents on ${on}`, () => {
    let side: Side;
    before(async () => {
      side = await openSide(on);
    });
    after(() => side.close());

    test('with --json every command answers with its one document', async () => {
      const order = large();
      const key = keyOf(order);
      async function documentOf<T extends z.ZodType>(schema: T, args: string[], input?: string) {
        const { exitCode, stdout } = await side.run([...args, '--json'], input);
        const document = schema.parse(JSON.parse(stdout)) as z.infer<T> & {
          exitCode: number;
          implementation: string;
        };
        assert.equal(document.exitCode, exitCode);
        assert.equal(document.implementation, on);
        return document;
      }
      const started = await documentOf(submitted, ['submit', '-'], JSON.stringify(order));
      assert.equal(started.orders[0]?.order, key);
      await side.until(orderIdOf(order), ({ waitingFor }) => waitingFor?.kind === 'person');
      const where = await documentOf(found, ['where', key]);
      assert.equal(where.result.position.status, 'waiting');
      assert.ok(!('history' in where.result.position));
      const history = await documentOf(found, ['where', key, '--history']);
      assert.ok('history' in history.result.position);
      await documentOf(answered, ['decide', key, 'reject', '--by', 'Ann']);
      await side.until(orderIdOf(order), ({ status }) => status === 'ended');
      await documentOf(cancelled, ['cancel', key, '--by', 'Ann', '--reason', 'twice']);
      const list = await documentOf(listed, ['list', '--status', 'ended']);
      assert.ok(list.result.runs.some((run) => run.id.orderRef === order.orderRef));
      await documentOf(letters, ['dead-letters', 'list']);
      const { result } = await documentOf(versions, ['versions']);
      const current = result.versions.find(({ state }) => state === 'current');
      assert.equal(current?.percent, 100);
      const again = on === 'queue' ? ['ramp', '2', '10'] : ['set-current', 'unversioned'];
      await documentOf(notChanged, ['versions', ...again, '--by', 'Ann']);
      await documentOf(failed, ['where', 'acme/PO-nobody']);
    });

    test('a reader that leaves early is no error', async () => {
      const shim = fileURLToPath(new URL('../../client/q2t.mjs', import.meta.url));
      const child = spawn(process.execPath, [shim, 'list', '--json', '--on', on], {
        env: { ...isolatedEnv(process.env), ...side.env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stdout.destroy();
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const [exitCode] = (await once(child, 'close')) as [number | null];
      assert.equal(exitCode, 0);
      assert.doesNotMatch(stderr, /EPIPE|Error/);
    });
  });
}
