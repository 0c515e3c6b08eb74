import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection } from '@temporalio/worker';
import { copySources } from '../../replay/changes/change.ts';
import { bundleStage } from '../../replay/gate/bundle.ts';
import { wrongChanges } from '../../replay/changes/wrong.ts';
import { temporalAddress, workflowBundle } from '../support/temporal.ts';
import { openReplayQueue, type ReplayQueue } from './open-queue.ts';

const PATCH = 'screen';

let dir: string;
let address: string;
let connection: Connection;
let native: NativeConnection;
let client: Client;
/** Files: the bundle of the workflows, one that is wrong, the one from before the patch. */
let code: { current: string; wrong: string; before: string };

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'q2t-live-'));
  address = await temporalAddress();
  connection = await Connection.connect({ address });
  native = await NativeConnection.connect({ address });
  client = new Client({ connection });
  code = await bundles();
});
after(async () => {
  await native.close();
  await connection.close();
  await rm(dir, { recursive: true, force: true });
});

async function bundles() {
  const shared = await workflowBundle();
  const current = join(dir, 'current.js');
  if ('code' in shared) await writeFile(current, shared.code);
  const [wrong, earlier] = [join(dir, 'wrong.js'), join(dir, 'before.js')];
  const change = wrongChanges.find(({ name }) => name === 'a transition no longer shown');
  assert.ok(change);
  const copy = await copySources();
  try {
    await writeFile(wrong, (await copy.bundleWith(change)).code);
  } finally {
    await copy.remove();
  }
  await writeFile(earlier, (await bundleStage('before')).code);
  return { current: 'codePath' in shared ? shared.codePath : current, wrong, before: earlier };
}

const openQueue = () => openReplayQueue({ address, connection, native });

suite("a server's open runs", () => {
  let queue: ReplayQueue;
  before(async () => {
    queue = await openQueue();
    for (let n = 0; n < 3; n++) await queue.submit();
    await queue.work(code.current);
    await queue.submit();
    await queue.untilListed(4);
  });
  after(() => queue.close());

  test('are fine with the code that they run on, those that have not begun too', async () => {
    const { stdout, exitCode } = await queue.replay('--live', '--json', '--bundle', code.current);
    assert.deepEqual(JSON.parse(stdout), {
      open: 4,
      lookedAt: 4,
      fine: 4,
      notBegun: 1,
      failures: [],
    });
    assert.equal(exitCode, 0);
  });

  test('that would stall are named, with the event and what the code does instead', async () => {
    const { stdout, exitCode } = await queue.replay('--live', '--bundle', code.wrong);
    assert.equal(exitCode, 1);
    for (const workflowId of queue.workflowIds.slice(0, 3)) {
      const said = `✗ ${workflowId}: at event 7 the history sets OrderStatus=running, OrderStep=validate; the code changes its memo`;
      assert.ok(stdout.includes(said), stdout);
    }
    assert.match(stdout, /4 of 4 open runs looked at: 1 fine, 3 would stall\./);
    assert.ok(stdout.includes(`Temporal ${address}`), stdout);
  });

  test('are bounded by a limit and chosen by a query', async () => {
    const limited = await queue.replay('--live', '--bundle', code.current, '--limit', '2');
    assert.match(limited.stdout, /2 of 4 open runs looked at: 2 fine/);
    assert.match(limited.stdout, /left out by --limit 2/);
    const query = `WorkflowId = '${queue.workflowIds[0]}' OR WorkflowId = '${queue.workflowIds[1]}'`;
    const chosen = await queue.replay('--live', '--bundle', code.current, '--query', query);
    assert.match(chosen.stdout, /2 of 2 open runs looked at: 2 fine/);
  });

  test('a query that the server does not take is an error that says so', async () => {
    const args = ['--live', '--bundle', code.current, '--query', 'NoSuchThing = 1'];
    const { stderr, exitCode } = await queue.replay(...args);
    assert.equal(exitCode, 1);
    assert.match(stderr, /NoSuchThing/);
  });

  test('are only read', async () => {
    const lengths = () =>
      Promise.all(
        queue.workflowIds.map(async (id) => {
          const { historyLength, raw } = await client.workflow.getHandle(id).describe();
          return [historyLength, String(raw.workflowExecutionInfo?.stateTransitionCount)];
        }),
      );
    const earlier = await lengths();
    await queue.replay('--live', '--bundle', code.wrong);
    await queue.replay('--can-remove', PATCH);
    assert.deepEqual(await lengths(), earlier);
  });
});

suite('a patch', () => {
  let queue: ReplayQueue;
  let oldAgent: string;
  let newAgent: string;
  let newOrder: string;
  before(async () => {
    queue = await openQueue();
    await queue.submit();
    await queue.submit();
    oldAgent = await queue.ask();
    await queue.work(code.before);
    newOrder = await queue.submit();
    newAgent = await queue.ask();
    await queue.work(code.current);
    await queue.untilListed(5);
  });
  after(() => queue.close());

  test('stays while runs without it are open, and can go when they have ended', async () => {
    const [oldest, other] = queue.workflowIds;
    assert.ok(oldest !== undefined && other !== undefined);
    const early = await queue.replay('--can-remove', PATCH, '--json');
    assert.equal(early.exitCode, 1);
    const said = JSON.parse(early.stdout) as { without: number; oldest: { workflowId: string } };
    assert.equal(said.without, 2);
    assert.equal(said.oldest.workflowId, oldest);
    const inWords = await queue.replay('--can-remove', PATCH);
    assert.match(inWords.stdout, /3 open runs, 1 of them with patch "screen", 2 without\./);
    assert.match(inWords.stdout, /Not yet/);

    await client.workflow.getHandle(oldest).terminate();
    await client.workflow.getHandle(other).terminate();
    await queue.untilListed(3);
    const late = await queue.replay('--can-remove', PATCH);
    assert.match(late.stdout, /The code from before "screen" can go\./);
    assert.equal(late.exitCode, 0);
  });

  test('that is gone while an agent has it stalls that agent, which is named', async () => {
    const { stdout, exitCode } = await queue.replay('--live', '--bundle', code.before);
    assert.equal(exitCode, 1);
    const said = `✗ ${newAgent}: at event 5 the history has the patch "agent-2"; the code `;
    assert.ok(stdout.includes(said), stdout);
    assert.ok(!stdout.includes(oldAgent), stdout);
  });

  test('of the agent is looked for among agents only', async () => {
    const early = await queue.replay('--can-remove', 'agent-2');
    assert.match(early.stdout, /2 open runs, 1 of them with patch "agent-2", 1 without\./);
    assert.ok(early.stdout.includes(`The oldest: ${oldAgent},`), early.stdout);
    assert.equal(early.exitCode, 1);

    await client.workflow.getHandle(oldAgent).terminate();
    await queue.untilListed(2);
    const late = await queue.replay('--can-remove', 'agent-2');
    assert.match(late.stdout, /1 open runs, 1 of them.*\nThe code from before "agent-2" can go\./);
    assert.equal(late.exitCode, 0);
  });

  test('that is not there while a run has it fails the gate, by a file as other tools write it', async () => {
    const history = await client.workflow.getHandle(newOrder).fetchHistory();
    const file = join(dir, 'patched.json');
    await writeFile(file, historyToJSON(history));
    const { stdout, exitCode } = await queue.replay(file, '--bundle', code.before);
    assert.equal(exitCode, 1);
    assert.match(stdout, /patched: at event \d+ the history has the patch "screen"; the code /);
    assert.equal((await queue.replay(file, '--bundle', code.current)).exitCode, 0);
  });
});

test('bad arguments are refused with exit code 2', async () => {
  const queue = await openQueue();
  for (const args of [
    ['--live', '--cut'],
    ['--limit', 'many'],
    ['--query', "WorkflowType = 'x'"],
    ['--live', 'some.json'],
    ['no-such-file.json'],
    ['--bundle', 'no-such-bundle.js'],
  ]) {
    const { exitCode, stderr } = await queue.replay(...args);
    assert.equal(exitCode, 2, args.join(' '));
    assert.match(stderr, /^error: |no-such-/);
  }
});
