import type { Implementation } from '../../../core/contract.ts';
import { rules } from '../../../replay/rules/rules.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import { tryLinks } from './chain.ts';
import { trySteps } from './queue.ts';
import { judge, type Seen, type Table } from './seen.ts';
import { tryWorkflows } from './temporal.ts';

/** Tries every edit that the table has for the implementation, and says what came of each. */
export function tryAll(stage: Stage): Promise<Seen> {
  switch (stage.implementation) {
    case 'temporal':
      return tryWorkflows(stage);
    case 'queue':
      return trySteps(stage);
    case 'chain':
      return tryLinks(stage);
    default:
      return stage.implementation satisfies never;
  }
}

/** What the table says of the edits on one implementation. */
export function tableOf(implementation: Implementation): Table {
  return new Map(
    rules.flatMap((rule) => {
      const trial = rule[implementation];
      return trial ? [[rule.name, trial] as const] : [];
    }),
  );
}

/** The same as a scenario's outcome. */
export async function compareAll(stage: Stage): Promise<Outcome> {
  const seen = await tryAll(stage);
  return judge(tableOf(stage.implementation), seen);
}
