import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { InjectedSinks } from '@temporalio/worker';
import { toAgentAsk } from '../../core/agent/input.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { bundleStage } from '../../replay/gate/bundle.ts';
import { replayQuietly } from '../../replay/gate/quiet.ts';
import { replayAll } from '../../replay/gate/replay.ts';
import { HISTORIES_DIR, readHistory, type KnownHistory } from '../../replay/history/file.ts';
import { STAGES, STAGES_IN_FLIGHT, type Stage } from '../../replay/stages.ts';
import { projectRoot } from '../../stack/runtime.mjs';
import type { ThinkVersions } from './think-versions.ts';

replayQuietly();

/** Runs that come through all steps, with an approval and without; in the page's order of tables. */
const THROUGH = { order: ['plain', 'approved'], agent: ['agent-plain', 'agent-approved'] } as const;

/** Which code takes up which runs, as the page says it: a table of the order, then one of the agent. */
const page = await readFile(join(projectRoot, 'docs', 'replay.md'), 'utf8');
const rows = [...page.matchAll(/^\| `(\w+)` +\|(.*)\|$/gm)].map(([, code, cells = '']) => {
  const said = cells.split('|').map((cell) => cell.trim());
  return { code, said };
});
const tables = { order: rows.slice(0, STAGES.length), agent: rows.slice(STAGES.length) };

const WATCHER = fileURLToPath(new URL('think-versions.ts', import.meta.url));
const bundles = new Map(STAGES.map((stage) => [stage, bundleStage(stage, [WATCHER])]));

const recorded = (stage: Stage, path: string) =>
  readHistory(join(HISTORIES_DIR, stage, `${path}.json`));

/** The second execution of an agent's run: no marker, and the version in what it was carried on with. */
const LATER = 'agent-chain-2';

const toBeMet = [
  ...STAGES.flatMap((stage) =>
    [...THROUGH.order, ...THROUGH.agent].map((path) => recorded(stage, path)),
  ),
  ...STAGES_IN_FLIGHT.map((stage) => recorded(stage, LATER)),
];

/** Of each recorded run whether a code follows it, and whether it goes on as it began: what the tables say. */
async function meetsAll(code: Stage): Promise<Map<string, string>> {
  const bundle = await bundles.get(code);
  assert.ok(bundle);
  const asked = new Set<string>();
  const fn = (_: unknown, version: string) => void asked.add(version);
  const sinks: InjectedSinks<ThinkVersions> = { think: { asked: { fn, callDuringReplay: true } } };
  const answers = new Map<string, string>();
  for await (const { known, error } of replayAll(bundle, await Promise.all(toBeMet), sinks)) {
    const goesOn = [...asked].join() === [...versionsIn(known)].join();
    answers.set(known.name, error !== undefined ? 'no' : goesOn ? 'yes' : 'unseen');
    asked.clear();
  }
  return answers;
}

const met = new Map(STAGES.map((code) => [code, meetsAll(code)]));

/** What the model was asked in, by the inputs in the history. */
function versionsIn({ history }: KnownHistory): Set<string> {
  const inputs = (history.events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: activity }) =>
      activity?.activityType?.name === 'think' ? (activity.input?.payloads ?? []) : [],
  );
  const thinks = inputs.map(
    ({ data }) => JSON.parse(Buffer.from(data ?? []).toString()) as unknown,
  );
  return new Set(thinks.map((think) => (think as { input: { version: string } }).input.version));
}

suite('of the four stages of the change', () => {
  for (const kind of ['order', 'agent'] as const) {
    test(`the page says how each meets each, of the ${kind}`, () => {
      assert.deepEqual(
        tables[kind].map(({ code, said }) => [code, said.length]),
        STAGES.map((stage) => [stage, STAGES.length]),
      );
    });

    for (const code of STAGES) {
      for (const stage of STAGES) {
        const row = tables[kind].find((each) => each.code === code);
        const said = row?.said[STAGES.indexOf(stage)] ?? '';
        test(`the code of ${code} meets ${kind}s of ${stage}: ${said}`, async () => {
          const answers = await met.get(code);
          const own = THROUGH[kind].map((path) => answers?.get(`${stage}/${path}`));
          assert.deepEqual(own, [said, said]);
        });
      }
    }
  }

  test('an agent that has gone on in a new execution keeps its version on every code', async () => {
    for (const [code, answers] of met) {
      for (const stage of STAGES_IN_FLIGHT) {
        assert.equal((await answers).get(`${stage}/${LATER}`), 'yes', `${code}, ${stage}`);
      }
    }
  });

  test('the agent was asked with prompts as long as they are now: one that changes is another version', async () => {
    for (const stage of STAGES) {
      const { history } = await recorded(stage, 'agent-plain');
      const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
      const [payload] = started?.input?.payloads ?? [];
      const asked = JSON.parse(Buffer.from(payload?.data ?? []).toString()) as AgentAsk;
      const { promptSizes, ...chosen } = asked;
      const now = toAgentAsk(chosen).promptSizes;
      for (const [version, size] of Object.entries(promptSizes)) assert.equal(now[version], size);
      assert.ok(Object.keys(promptSizes).length > 0);
    }
  });
});
