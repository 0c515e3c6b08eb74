import { checkGuard, withoutGuard, type Guard } from '../../guards/guard.ts';
import { judgeEffects, ONCE } from '../../observe/effects.ts';
import { together } from '../../observe/together.ts';
import { countsOnce, untilThrough } from '../../observe/until.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import { heldBefore, PATIENT } from './held.ts';

/** A new version of the chain that calls the amount by another name: in every message that is under way it is missing. */
const OTHER_WORD: Guard = {
  name: 'the name of the amount',
  patches: [
    {
      file: 'queue/chain/steps.ts',
      replace: "return to('credit', { payable: totals",
      by: "return to('credit', { due: totals",
    },
    {
      file: 'queue/chain/steps.ts',
      replace: 'const amount = link.payable ??',
      by: 'const amount = link.due ??',
    },
  ],
};
const AT_RESERVE = { partner: 'warehouse', operation: 'reserve' } as const;

/** Nothing stands still: each version reads what the other wrote, and takes what it misses for nothing. */
export async function chainReadsOtherWords(stage: Stage): Promise<Outcome> {
  await checkGuard(OTHER_WORD);
  const world = await stage.world({ policy: PATIENT });
  const old = await world.startWorker();
  const first = await heldBefore(world, 'PO-OLD-WORDS', AT_RESERVE);
  await old.stop();
  const fresh = await world.startWorker(withoutGuard(OTHER_WORD));
  await first.letGo();
  await untilThrough(world, first.id);
  const second = await heldBefore(world, 'PO-NEW-WORDS', AT_RESERVE);
  await fresh.stop();
  await world.startWorker();
  await second.letGo();
  await untilThrough(world, second.id);
  await stage.say(
    'both went through, one after the deploy, one after the rollback; nothing was said',
  );

  const outcomes = [];
  for (const { id } of [first, second]) {
    outcomes.push(judgeEffects(await countsOnce(world, id, ({ mail }) => mail > 0), ONCE));
  }
  const unpaid = outcomes.filter(({ verdict }) => verdict === 'broke').length;
  return together(outcomes, { 'placed and never charged': `${unpaid} of 2`, 'found by': 'nobody' });
}
