import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SEQUENCES, STEPS, stepsOf } from '../../../core/steps.ts';
import type { Step } from '../../../core/steps.ts';
import { pipelinesOf } from '../../../queue/steps/pipelines.ts';
import type { StepCode } from '../../../queue/steps/step.ts';
import { whyNotMove } from '../../../queue/versions/why-not.ts';
import type { Sequence } from '../../../queue/versions/why-not.ts';

const pipelines = pipelinesOf();
const version = (name: string): Sequence => {
  return { ...pipelines.of(name), version: name, order: stepsOf(name) };
};
const [one, two] = [version('1'), version('2')];

test('a run may go to a version only where it leaves out nothing and does nothing twice', () => {
  const orders = fc.shuffledSubarray([...STEPS], { minLength: 1 });
  fc.assert(
    fc.property(orders, orders, fc.nat(), (from, to, at) => {
      const step = from[at % from.length];
      assert.ok(step);
      const why = whyNotMove(
        { step, compensating: false },
        { ...two, order: from },
        { ...two, version: '3', order: to },
      );
      const done = from.slice(0, from.indexOf(step));
      const rest = to.includes(step) ? to.slice(to.indexOf(step)) : undefined;
      const whole =
        rest && to.every((each) => [...done, ...rest].filter((s) => s === each).length === 1);
      assert.equal(why === undefined, whole === true, why);
    }),
  );
});

test('of the two versions there are, the words say what stands in the way', () => {
  const said = (from: Sequence, to: Sequence, order: readonly Step[]) =>
    order.map((step) => whyNotMove({ step, compensating: false }, from, to) ?? 'may');
  const skips = 'version 2 has screen and reserve before approve, and this run has not done that';
  const unscreened = (step: Step) =>
    `version 2 has screen before ${step}, and this run has not done that`;
  assert.deepEqual(said(one, two, SEQUENCES[1]), [
    ...['may', 'may', 'may', skips],
    ...(['reserve', 'charge', 'place', 'invoice', 'close'] as const).map(unscreened),
  ]);
  assert.deepEqual(said(two, one, SEQUENCES[2]), [
    ...['may', 'may', 'may', 'version 1 has no step screen'],
    'version 1 has approve before reserve, and this run has not done that',
    'version 1 would do reserve again',
    // Screened besides: an answer that nobody waits for.
    ...['may', 'may', 'may', 'may'],
  ]);
});

test('a run that undoes may go wherever the undos are the same code', () => {
  const at = { step: 'approve', compensating: true } as const;
  assert.equal(whyNotMove(at, one, two), undefined);
  const other = { ...two, undos: { ...two.undos, charge: two.undos.place } };
  assert.match(whyNotMove(at, one, other) ?? '', /undoes charge by other code/);
});

const newCode: StepCode = () => Promise.resolve({ kind: 'done' });

test('a run does not go where a step that it did, or is at, is other code', () => {
  const other = { ...two, version: '3', steps: { ...two.steps, credit: newCode } };
  assert.equal(whyNotMove({ step: 'price', compensating: false }, two, other), undefined);
  for (const step of ['credit', 'place'] as const) {
    assert.match(
      whyNotMove({ step, compensating: false }, two, other) ?? '',
      /other code for credit/,
    );
  }
});
