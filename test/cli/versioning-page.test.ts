import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import type { Position } from '../../core/contract.ts';
import type { OrderId } from '../../core/identity.ts';
import { openBench as openQueueBench } from '../queue/support/bench.ts';
import { openBench as openTemporalBench } from '../support/order-bench.ts';
import { until } from '../support/until.ts';
import { startWorkerProcess } from '../workflows/worker-script.ts';
import { q2tInside } from './q2t.ts';

const PAGE = new URL('../../docs/versioning.md', import.meta.url);
const ORDER = { buyerId: 'city-hospital', orderRef: 'PO-2026-0194' };

interface Line {
  env: Record<string, string>;
  words: string[];
  exitCode: number;
}

/** The lines of the page's block that is marked as tried, without comments; `# exit 4` in one is what is expected. */
async function linesOf(name: string): Promise<Line[]> {
  const page = await readFile(PAGE, 'utf8');
  const block = new RegExp(`<!-- tried: ${name} -->\\s+\`\`\`\\n([^]*?)\`\`\``).exec(page)?.[1];
  assert.ok(block, `docs/versioning.md has a block that is tried on ${name}`);
  return block
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [command = '', comment = ''] = line.split(/\s+# /);
      const all = command.trim().split(/\s+/);
      const settings = all.filter((word) => /^[A-Z][A-Z0-9_]*=/.test(word));
      return {
        env: Object.fromEntries(settings.map((setting) => setting.split('=') as [string, string])),
        words: all.slice(settings.length),
        exitCode: Number(/^exit (\d)/.exec(comment)?.[1] ?? 0),
      };
    });
}

interface Bench {
  position(id: OrderId): Promise<Position>;
  until(id: OrderId, wanted: (position: Position) => boolean): Promise<Position>;
}

/** Types the page's lines one after the other, as a reader does who looks before each. Returns what was printed. */
async function type(
  lines: Line[],
  bench: Bench,
  env: Record<string, string>,
  worker: (env: Record<string, string>) => Promise<void>,
): Promise<string[]> {
  const printed: string[] = [];
  for (const { env: settings, words, exitCode } of lines) {
    const [tool, ...args] = words;
    if (tool === 'npm') {
      assert.deepEqual(args, ['run', 'worker', '--', 'temporal']);
      await worker(settings);
      continue;
    }
    assert.deepEqual([tool, args.shift()], ['npx', 'q2t']);
    const ended = await q2tInside(args, { env });
    assert.equal(ended.exitCode, exitCode, `${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
    printed.push(ended.stdout);
    if (args[0] === 'submit') {
      await bench.until(ORDER, ({ waitingFor }) => waitingFor?.kind === 'person');
    }
    if (args[0] === 'decide') await bench.until(ORDER, ({ status }) => status === 'ended');
  }
  return printed;
}

const unexpected = () => Promise.reject(new Error('no line of this block starts a worker'));

describe('docs/versioning.md', () => {
  const closing: (() => Promise<void>)[] = [];
  after(async () => {
    for (const close of closing.toReversed()) await close();
  });

  test('its lines on Temporal do what the page says, with workers of two build ids', async () => {
    const bench = await openTemporalBench();
    closing.push(() => bench.close());
    const env = { TEMPORAL_ADDRESS: bench.address, Q2T_TASK_QUEUE: bench.taskQueue };
    const printed = await type(await linesOf('temporal'), bench, env, async (settings) => {
      const worker = startWorkerProcess(bench, settings);
      closing.push(async () => {
        worker.kill('SIGTERM');
        assert.equal((await worker).exitCode, 0);
      });
      let log = '';
      worker.stdout.on('data', (text: Buffer) => (log += text.toString()));
      await until('the worker to be ready', () => log.includes('"msg":"ready"'));
    });
    const tables = printed.filter((text) => text.startsWith('VERSION'));
    assert.match(tables[0] ?? '', /^orders:1 +inactive/m);
    assert.match(tables[1] ?? '', /^orders:1 +draining .*no: only it can go on with 1 open run$/m);
    assert.match(tables[1] ?? '', /^orders:2 +current +100 %/m);
    // The page says "a moment later".
    assert.match(tables[2] ?? '', /^orders:1 +(draining|drained) .* 0 /m);
    const last = await q2tInside(['versions'], { env });
    assert.match(last.stdout, /^unversioned +current +100 %/m);
  });

  test('its lines on the queue do what the page says', async () => {
    const bench = await openQueueBench();
    closing.push(() => bench.close());
    const env = { DATABASE_URL: bench.databaseUrl };
    await until('the worker to say what it has', async () => {
      return / worker/.test((await q2tInside(['versions', '--on', 'queue'], { env })).stdout);
    });
    const printed = await type(await linesOf('queue'), bench, env, unexpected);
    const tables = printed.filter((text) => text.startsWith('VERSION'));
    assert.match(tables[0] ?? '', /^2 +current +100 %/m);
    assert.match(tables[1] ?? '', /^1 +draining .*no: only it can go on with 1 open run$/m);
    assert.match(
      printed.join('\n'),
      /not changed: version 2 has screen and reserve before approve/,
    );
    assert.match(tables[2] ?? '', /^1 +drained .*yes: no open run needs it$/m);
  });

  test('every other command on it exists', async () => {
    const page = await readFile(PAGE, 'utf8');
    const scripts = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as { scripts: Record<string, string> };
    for (const [, script = ''] of page.matchAll(/npm run ([a-z]+)/g)) {
      assert.ok(scripts.scripts[script], `npm run ${script}`);
    }
    for (const [, command = ''] of page.matchAll(/`versions ([a-z][a-z-]+) /g)) {
      const { exitCode, stdout } = await q2tInside(['versions', command, '--help']);
      assert.equal(exitCode, 0);
      assert.match(stdout, new RegExp(`Usage: q2t versions ${command} `));
    }
  });
});
