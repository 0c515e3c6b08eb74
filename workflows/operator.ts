import { condition, upsertMemo } from '@temporalio/workflow';
import type { OperatorResult } from '../core/contract.ts';
import { businessKey, orderIdOf } from '../core/identity.ts';
import type { RunInput } from '../core/order/run-input.ts';
import type { AnyStep, Step, UndoableStep } from '../core/steps.ts';
import type { OperatorCommand } from './definitions.ts';
import { differences } from '../core/order/difference.ts';
import type { StepProblem } from './failures.ts';
import { move, now, record } from './position.ts';
import { Stopped } from './run.ts';
import type { AnyRun, OperatorQuestion, Run } from './run.ts';
import { MEMO_FAILURES } from './search-attributes.ts';

/** Enough for an operator to judge by; the memo is written anew each time. */
const MAX_FAILURES = 20;

/**
 * Waits, stuck, until an operator says what to do with a step whose attempts are used up. Returns when
 * the step is to be tried again; throws `Stopped` when the run is given up or goes on with another order.
 */
export async function askOperator(run: Run, step: Step, problem: StepProblem): Promise<void> {
  // The invoice may be out, and nobody can take a mail back: another amount would need another order.
  const mayBeOut = step === 'invoice' || step === 'close';
  const fix = mayBeOut ? { no: 'the invoice may be out' } : { order: run.input.order };
  const command = await untilOperated(run, { step, problem, fix });
  switch (command.action) {
    case 'replay':
      return;
    case 'discard':
      throw new Stopped({ kind: 'end', outcome: 'discarded', reason: command.why });
    case 'fix':
      throw new Stopped({ kind: 'fix', input: fixedInput(run, command) });
    default:
      return command satisfies never;
  }
}

/** The same for an undo. Returns whether to try it again; otherwise it is left to people. */
export async function askAboutUndo(
  run: Run,
  step: UndoableStep,
  problem: StepProblem,
): Promise<'replay' | 'discard'> {
  const fix = { no: 'the run is being undone' };
  const command = await untilOperated(run, { step, problem, fix, undo: step });
  return command.action === 'replay' ? 'replay' : 'discard';
}

interface Stuck extends Pick<OperatorQuestion, 'fix'> {
  step: AnyStep;
  problem: StepProblem;
  /** The step whose undo it is that failed. */
  undo?: UndoableStep;
}

/** Shows the run as stuck until an operator says what to do, which may be a fix only where `fix` has an order. */
export async function untilOperated(
  run: AnyRun,
  { step, problem, fix, undo }: Stuck,
): Promise<OperatorCommand> {
  const { failureClass, message } = problem;
  run.failures = [...run.failures, { at: now(), failureClass, message }].slice(-MAX_FAILURES);
  upsertMemo({ [MEMO_FAILURES]: run.failures });
  const reason = `${message} (${failureClass})`;
  const waitingFor = { kind: 'operator', reason, since: now() } as const;
  move(
    run,
    { status: 'stuck', waitingFor },
    undo ? { type: 'undo-failed', step: undo, reason } : { type: 'stuck', step, reason },
  );
  const question: OperatorQuestion = { fix };
  run.question = question;
  try {
    await condition(() => question.answer !== undefined);
  } finally {
    delete run.question;
  }
  if (!question.answer) throw new Error('woken without an answer');
  return question.answer;
}

/** Takes an operator's command. Called from the update's handler. */
export function answerOperator(run: AnyRun, command: OperatorCommand): OperatorResult {
  const { question } = run;
  if (!question || question.answer) return refuse('the run is not stuck');
  const { step } = run.position;
  const { by, why } = command;
  switch (command.action) {
    case 'replay':
      record(run, { type: 'replayed', step, by, why });
      break;
    case 'discard':
      record(run, { type: 'discarded', step, by, why });
      break;
    case 'fix': {
      const { fix } = question;
      if ('no' in fix) return refuse(`no fix here: ${fix.no}`);
      if (businessKey(orderIdOf(command.order)) !== businessKey(run.id)) {
        return refuse('a fix keeps the buyer and the reference of the order');
      }
      const changed = differences(fix.order, command.order);
      // Only an order has an order to fix.
      record(run, { type: 'fixed', step: step as Step, by, why, ...changed });
      break;
    }
    default:
      return command satisfies never;
  }
  question.answer = command;
  return { kind: 'accepted' };
}

function refuse(reason: string): OperatorResult {
  return { kind: 'conflict', reason };
}

function fixedInput(run: Run, fix: OperatorCommand & { action: 'fix' }): RunInput {
  const { policy, revision } = run.input;
  const due = fix.chargeAt === undefined ? {} : { chargeAt: fix.chargeAt };
  return { order: fix.order, policy, revision: revision + 1, ...due };
}
