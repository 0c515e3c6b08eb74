import { setHandler } from '@temporalio/workflow';
import type { AgentAnswer } from '../../core/agent/contract.ts';
import { checkAnswer } from '../../core/answer-shapes.ts';
import { answerUpdate } from '../definitions.ts';
import { refuseFlood } from '../flood.ts';
import { listenToAll } from '../outside.ts';
import { take } from './ask.ts';
import type { AgentRun } from './run.ts';

/** Registers what the outside may say to the run; before the first await, as an order does. */
export function listen(run: AgentRun): void {
  setHandler(answerUpdate, (answer) => take(run, answer), {
    validator: (answer: AgentAnswer) => {
      refuseFlood();
      checkAnswer(answer);
    },
  });
  listenToAll(run, {
    isTooLate: () => run.cancel !== undefined || run.position.status === 'ended',
    take(request) {
      run.cancel = { ...request, told: false };
    },
    stop: () => run.doing?.cancel(),
  });
}
