import { fencing, lookBeforeActing, lookBeforeActingOnTemporal } from '../guards/fencing.ts';
import { lease } from '../guards/lease.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { together } from '../observe/together.ts';
import { seconds } from '../observe/words.ts';
import type { Outcome, Scenario } from '../scenario.ts';
import { deliveredTwice } from './zombie/delivered-twice.ts';
import { freezeAndThaw } from './zombie/freeze.ts';

export const zombie: Scenario = {
  name: 'zombie',
  claim: 'a worker that was taken for dead and wakes up again changes nothing',
  about:
    'a visibility timeout lapses on the schedule of the broker and carries no counter against which ' +
    'the write of a stale worker could be tested',
  fault:
    'SIGSTOP of a worker with two orders in its hands: for one it waits for the answer of the ' +
    'supplier, who has placed it; for the other it has just decided to ask. A successor finishes both. ' +
    'Then SIGCONT, and an order for the woken worker alone, to show that it is awake',
  counts: 'every effect of the three orders; what where and history say before and after it woke',
  code: {
    chain: ['queue/chain/handle.ts'],
    queue: ['queue/runs/fence.ts', 'queue/ledger/effect.ts'],
    temporal: ['activities/attempt.ts', 'activities/place.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'placed twice, mailed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  controls: [
    { on: 'queue', without: lease, breaks: 'placed twice', run: deliveredTwice },
    { on: 'queue', without: fencing, breaks: 'history written over' },
    { on: 'queue', without: lookBeforeActing, breaks: 'placed twice' },
    { on: 'temporal', without: lookBeforeActingOnTemporal, breaks: 'placed twice' },
  ],
  limitMs: { small: 240_000 },
  seconds: 25,
  async run(stage) {
    const { orders, refused, recoveryMs } = await freezeAndThaw(stage, { cut: true });
    const written: Outcome[] = orders
      .filter(({ changed }) => changed)
      .map(() => ({ verdict: 'broke', how: 'history written over', counted: {} }));
    const effects = orders.map(({ counts }) => judgeEffects(counts, ONCE));
    const [waiting, deciding] = orders.map(({ counts }) => counts.order);
    const counted = {
      'orders when the zombie had acted': waiting ?? 0,
      'when it was about to': deciding ?? 0,
    };
    const measured: Record<string, string | number> = { recovery: seconds(recoveryMs) };
    if (refused !== undefined) measured['stale writes refused'] = refused;
    // Polls of a frozen worker stay open and are given tasks: that costs time, and nothing else.
    if (stage.size === 'full' && stage.implementation === 'temporal') {
      const uncut = await freezeAndThaw(stage, { cut: false });
      effects.push(...uncut.orders.map(({ counts }) => judgeEffects(counts, ONCE)));
      measured['with its connections left open'] = seconds(uncut.recoveryMs);
    }
    return together([...effects, ...written], counted, measured);
  },
};
