import { judgeEffects, ONCE } from '../observe/effects.ts';
import { together } from '../observe/together.ts';
import { seconds } from '../observe/words.ts';
import type { Outcome, Scenario } from '../scenario.ts';
import { crashWorld, openCrashes, orders } from './crash-matrix/crashes.ts';
import { chosenPlaces } from './crash-matrix/places.ts';

export const crashMatrix: Scenario = {
  name: 'crash-matrix',
  claim: 'wherever a worker dies, its order is finished, every effect once and nothing left behind',
  about: 'exactly-once is a claim about every point between two writes, so every point is tried',
  fault:
    'the wire counts what an undisturbed order makes durable: commits on chain and queue, answered ' +
    'calls of the worker on Temporal. Then one order after the other, and for each the worker is ' +
    'killed at one of them: before it is sent, or when it is done and not yet answered. A new worker ' +
    'comes, and is the next victim. Small: a quarter of these places, drawn by the seed; the chain: ' +
    'those around its effects. --full: all',
  counts:
    "the partners' counts for each order; then messages, timers, gates and runs that are still there",
  code: {
    chain: ['queue/chain/handle.ts', 'queue/chain/steps.ts'],
    queue: ['queue/runs/take.ts', 'queue/runs/transition.ts', 'queue/ledger/effect.ts'],
    temporal: ['workflows/purchase-order.ts', 'activities/attempt.ts', 'activities/place.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'placed twice, mailed twice' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 400_000, full: 1_800_000 },
  seconds: 60,
  async run(stage) {
    const { implementation, say } = stage;
    const crashes = await openCrashes(stage, await stage.world(crashWorld(stage)), orders);
    const boundaries = await crashes.undisturbed();
    const { places, chosen } = chosenPlaces(boundaries, stage);
    const outcomes: Outcome[] = [];
    const doubled: string[] = [];
    const took: number[] = [];
    for (const place of chosen) {
      const where = `${place.side} ${place.label}`;
      const { counts, recoveryMs } = await crashes.crash(place);
      const outcome = judgeEffects(counts, ONCE);
      await say(
        `killed ${where}: ${outcome.verdict === 'broke' ? outcome.how : 'each effect once'}`,
      );
      if (outcome.verdict === 'broke') doubled.push(where);
      outcomes.push(outcome);
      took.push(recoveryMs);
    }
    const durable = implementation === 'temporal' ? 'calls' : 'commits';
    const counted = {
      ...(doubled.length > 0 ? { 'not once': doubled.length } : { effects: 'each once' }),
      'left behind': 'nothing',
    };
    const measured = {
      // How many writes an order takes may differ by one or two on a slow machine.
      tried: `${chosen.length} of ${places.length} places around ${boundaries.length} ${durable}`,
      'longest recovery': seconds(Math.max(...took)),
    };
    // On the chain it is known where; elsewhere it is what has to be looked into.
    const at = implementation === 'chain' || doubled.length === 0 ? {} : { at: doubled.join('; ') };
    return together(outcomes, counted, { ...measured, ...at });
  },
};
