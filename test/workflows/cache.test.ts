import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { Worker } from '@temporalio/worker';
import type { InjectedSinks } from '@temporalio/worker';
import { failureInWords, replayGate } from '../../replay/gate/gate.ts';
import { cutsOf } from '../../replay/history/cut.ts';
import type { KnownHistory } from '../../replay/history/file.ts';
import { projectRoot } from '../../stack/runtime.mjs';
import { asType } from '../../replay/history/as-type.ts';
import { until } from '../support/until.ts';
import { nextSignal, seenQuery } from './cases/workflows.ts';
import type { Counters } from './cases/workflows.ts';
import { openWorkshop, type Workshop } from './cases/workshop.ts';

/** Nothing stays: every task and every query is a replay. */
const NO_CACHE = { maxCachedWorkflows: 0 };
const COUNTED = ['first answered', 'new path', 'second answered'];

let workshop: Workshop;
before(async () => {
  workshop = await openWorkshop();
});
after(() => workshop.close());

const handleOf = (workflowId: string) => workshop.client.workflow.getHandle(workflowId);
const told = (workflowId: string) => handleOf(workflowId).signal(nextSignal);

suite('a run that is not in the cache', () => {
  /** By what a live worker counted, a finished run that was asked between its steps. */
  let counted: string[];
  let run: KnownHistory;
  before(async () => {
    const counting = sinks();
    counted = counting.counted;
    const workflowId = await workshop.start('stops');
    await workshop.working(
      async () => {
        const handle = handleOf(workflowId);
        const seen = () => handle.query(seenQuery);
        await until('the first step', async () => (await seen()).length === 1);
        await seen();
        await told(workflowId);
        await handle.result();
      },
      { ...NO_CACHE, sinks: counting.sinks },
    );
    run = await workshop.history(workflowId);
  });

  test('B3: takes the new path of a patch although it was asked, and so replayed, just before', () => {
    const { events = [] } = run.history;
    const markers = events?.filter((event) => event.markerRecordedEventAttributes) ?? [];
    assert.deepEqual(
      markers.map((event) => event.markerRecordedEventAttributes?.markerName),
      ['core_patch'],
    );
    assert.deepEqual(
      counted,
      COUNTED,
      'no call of a sink is lost to a replay, and none comes twice',
    );
  });

  test('B3: takes the old path where it has passed the patch before there was one', async () => {
    const workflowId = await workshop.start('stopsBefore');
    const ended = async () => {
      await told(workflowId);
      await handleOf(workflowId).result();
    };
    await workshop.working(ended, { sinks: sinks().sinks });
    const before = await workshop.history(workflowId);
    const { counted } = await replayed(asType(before, 'stops'), true);
    assert.deepEqual(counted, ['first answered', 'old path', 'second answered']);
  });

  test('B24: calls no sink when it is replayed, whole or up to any of its tasks', async () => {
    const cuts = [...cutsOf(run)];
    assert.ok(cuts.length > 2);
    for (const known of [run, ...cuts]) {
      assert.deepEqual(await replayed(known, false), { counted: [], error: undefined }, known.name);
    }
  });

  test('B24: would call one that asks for it, so the count can fail', async () => {
    assert.deepEqual(await replayed(run, true), { counted: COUNTED, error: undefined });
  });

  test('B24: of an order has no sink to call: workflows/ has none', async () => {
    for await (const file of glob('workflows/**/*.ts', { cwd: projectRoot })) {
      assert.doesNotMatch(await readFile(`${projectRoot}/${file}`, 'utf8'), /proxySinks/, file);
    }
  });
});

suite('B27: a run does the same', () => {
  for (const [where, again] of [
    ['on the worker that has it in its cache', undefined],
    ['on a worker that has never seen it', {}],
    ['after it was evicted', NO_CACHE],
  ] as const) {
    test(where, async () => {
      const workflowId = await workshop.start('remembers');
      const begun = () => until('its first step', () => isOpen(workflowId));
      const ended = async () => {
        await told(workflowId);
        await handleOf(workflowId).result();
      };
      if (again === undefined) await workshop.working(() => begun().then(ended));
      else {
        await workshop.working(begun);
        await workshop.working(ended, again);
      }
      assert.deepEqual(await stalls(await workshop.history(workflowId)), []);
    });
  }

  test('but not when it keeps what it learnt in a module that all runs share: a warm worker leaves out an activity, a cold one does not', async () => {
    const histories = await workshop.working(async () => {
      const ended: KnownHistory[] = [];
      for (let n = 0; n < 2; n++) {
        const workflowId = await workshop.start('remembersForAll');
        await told(workflowId);
        await handleOf(workflowId).result();
        ended.push(await workshop.history(workflowId));
      }
      return ended;
    });
    const said = (await Promise.all(histories.map(stalls))).flat();
    assert.equal(said.length, 1, said.join('\n'));
    assert.match(said[0] ?? '', /TMPRL1100/);
  });
});

/** The run's step has been answered, and it waits. */
async function isOpen(workflowId: string): Promise<boolean> {
  const { history } = await workshop.history(workflowId);
  const last = history.events?.at(-1);
  const steps = history.events?.filter((event) => event.activityTaskCompletedEventAttributes);
  return steps?.length === 1 && last?.workflowTaskCompletedEventAttributes != null;
}

async function stalls(known: KnownHistory): Promise<string[]> {
  const { failures } = await replayGate(workshop.bundle, [known]);
  return failures.map((failure) => `${failureInWords(failure)} ${failure.error}`);
}

/** What a replay calls the counting sink with, and whether it was a good one. */
async function replayed(known: KnownHistory, callDuringReplay: boolean) {
  const { counted, sinks: counting } = sinks(callDuringReplay);
  const { history, workflowId } = known;
  const results = Worker.runReplayHistories({ workflowBundle: workshop.bundle, sinks: counting }, [
    { history, workflowId },
  ]);
  let error: string | undefined;
  for await (const result of results) error = result.error?.message;
  return { counted, error };
}

function sinks(callDuringReplay = false) {
  const counted: string[] = [];
  const counter = {
    count: { fn: (_: unknown, what: string) => void counted.push(what), callDuringReplay },
  };
  return { counted, sinks: { counter } satisfies InjectedSinks<Counters> };
}
