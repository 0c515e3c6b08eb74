import type { Decision, DecideResult } from '../../../core/contract.ts';
import type { HistoryEntry } from '../../../core/history.ts';
import type { OrderId } from '../../../core/identity.ts';
import { until } from '../../observe/until.ts';
import type { World } from '../../world/world.ts';

/** What an answer was told: `accepted`, or the kind of conflict. */
type Told = string;

/** The answers given so far, and those that were not told what they should have been. */
export interface Answers {
  /** Gives an answer to an order's gate. `expected` is what it should be told. */
  give(id: OrderId, answer: Partial<Decision>, expected: Told): Promise<void>;
  /** Two people, the same gate, the same moment: one is accepted, the other is second. Returns who was first. */
  giveAtOnce(id: OrderId, one: Partial<Decision>, other: Partial<Decision>): Promise<string>;
  readonly given: number;
  /** "early: accepted" for each that was told something else. */
  readonly wrong: readonly string[];
}

/** The answer that nobody finds fault with. */
export const YES: Decision = { gate: 'approval', gateVersion: 1, decision: 'approve', by: 'ann' };

export function openAnswers(world: World): Answers {
  const wrong: string[] = [];
  let given = 0;

  /** An answer that nobody confirmed in time is repeated: the same one counts once. */
  async function told(id: OrderId, answer: Partial<Decision>): Promise<Told> {
    given += 1;
    const result = await until('an answer to the answer', async () => {
      const once = await world.pipeline.decide(id, { ...YES, ...answer });
      return once.kind === 'not-confirmed' ? undefined : once;
    });
    return wordFor(result);
  }

  return {
    wrong,
    get given() {
      return given;
    },
    async give(id, answer, expected) {
      const was = await told(id, answer);
      if (was !== expected) wrong.push(`${expected}: ${was}`);
    },
    async giveAtOnce(id, one, other) {
      const [first = '', second = ''] = await Promise.all([told(id, one), told(id, other)]);
      const both = [first, second].sort().join(' and ');
      if (both !== 'accepted and second') wrong.push(`two at once: ${both}`);
      return (first === 'accepted' ? one : other).by ?? YES.by;
    },
  };
}

function wordFor(result: DecideResult): Told {
  return result.kind === 'conflict' ? result.conflict : result.kind;
}

/** How many entries of an event a history has. */
export function entriesOf(history: readonly HistoryEntry[], type: HistoryEntry['type']): number {
  return history.filter((entry) => entry.type === type).length;
}
