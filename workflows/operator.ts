import { condition, upsertMemo } from '@temporalio/workflow';
import type { OperatorResult } from '../core/contract.ts';
import { businessKey, orderIdOf } from '../core/identity.ts';
import type { RunInput } from '../core/order/run-input.ts';
import type { Step, UndoableStep } from '../core/steps.ts';
import type { OperatorCommand } from './definitions.ts';
import { differences } from '../core/order/difference.ts';
import type { StepProblem } from './failures.ts';
import { move, now, record } from './position.ts';
import { Stopped } from './run.ts';
import type { OperatorQuestion, Run } from './run.ts';
import { MEMO_FAILURES } from './search-attributes.ts';

/** Enough for an operator to judge by; the memo is written anew each time. */
const MAX_FAILURES = 20;

/**
 * Waits, stuck, until an operator says what to do with a step whose attempts are used up. Returns when
 * the step is to be tried again; throws `Stopped` when the run is given up or goes on with another order.
 */
export async function askOperator(run: Run, step: Step, problem: StepProblem): Promise<void> {
  // The invoice may be out, and nobody can take a mail back: another amount would need another order.
  const noFix = step === 'invoice' || step === 'close' ? 'the invoice may be out' : undefined;
  const reason = reasonOf(problem);
  const command = await ask(run, problem, noFix, () =>
    move(run, stuckBecause(reason), { type: 'stuck', step, reason }),
  );
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
  const reason = reasonOf(problem);
  const command = await ask(run, problem, 'the run is being undone', () =>
    move(run, stuckBecause(reason), { type: 'undo-failed', step, reason }),
  );
  return command.action === 'replay' ? 'replay' : 'discard';
}

async function ask(
  run: Run,
  { failureClass, message }: StepProblem,
  noFix: string | undefined,
  show: () => void,
): Promise<OperatorCommand> {
  run.failures = [...run.failures, { at: now(), failureClass, message }].slice(-MAX_FAILURES);
  upsertMemo({ [MEMO_FAILURES]: run.failures });
  show();
  const question: OperatorQuestion = noFix === undefined ? {} : { noFix };
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
export function answerOperator(run: Run, command: OperatorCommand): OperatorResult {
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
      if (question.noFix !== undefined) return refuse(`no fix here: ${question.noFix}`);
      if (businessKey(orderIdOf(command.order)) !== businessKey(run.id)) {
        return refuse('a fix keeps the buyer and the reference of the order');
      }
      record(run, { type: 'fixed', step, by, why, ...differences(run.input.order, command.order) });
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

function stuckBecause(reason: string) {
  return { status: 'stuck', waitingFor: { kind: 'operator', reason, since: now() } } as const;
}

function reasonOf({ failureClass, message }: StepProblem): string {
  return `${message} (${failureClass})`;
}
