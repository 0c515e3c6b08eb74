import type { AgentPosition } from '../../core/agent/contract.ts';
import { formatNanoEur } from '../../core/agent/prices.ts';
import type { Question } from '../../core/agent/state.ts';
import { businessKey } from '../../core/identity.ts';
import { formatMoney } from '../../core/order/money.ts';
import { commandOn } from './commands.ts';
import { ROLL_BACK, runLines } from './position.ts';
import { row, text } from './text.ts';

/** Where a request is, as a person reads it. */
export function agentLines(position: AgentPosition, now: Date): string[] {
  const { question, order } = position;
  const lines = [headline(position)];
  if (question) lines.push(row('question', asked(question, position)));
  lines.push(...runLines(position, now), row('spent', spending(position)));
  if (order) {
    lines.push(
      row(
        'order',
        text`${businessKey(order.id)}, ${order.started ? 'started' : 'not started yet'}`,
      ),
    );
  }
  return lines;
}

function headline({ id, implementation, status, step, outcome, turn, budget }: AgentPosition) {
  const head = text`${businessKey(id)} on ${implementation}: `;
  const turns = text`(turn ${turn} of at most ${budget.maxTurns})`;
  if (status === 'ended') return head + text`ended, ${outcome ?? 'outcome unknown'} ` + turns;
  return head + text`${status} at ${step} ` + turns;
}

function asked(question: Question, { order }: AgentPosition): string {
  if (question.gate === 'question') return text`${question.text}`;
  const what = order === undefined ? 'the order' : businessKey(order.id);
  return text`May ${what} be placed, for ${formatMoney(question.payable)}?`;
}

function spending({ spent, budget }: AgentPosition): string {
  const { calls, lostCalls, inputTokens, outputTokens, nanoEur } = spent;
  const money = `${formatNanoEur(nanoEur)} of ${formatNanoEur(budget.maxNanoEur)}`;
  const tokens = `${inputTokens + outputTokens} of ${budget.maxTokens} tokens`;
  return text`${money}, ${tokens}, ${calls} calls, ${lostCalls} lost`;
}

/** The commands that move this request on, for the place where hints go. */
export function nextAgentCommands(position: AgentPosition): string[] {
  const { id, implementation, waitingFor, order, status } = position;
  const request = businessKey(id);
  const onIt = (command: string) => commandOn(implementation, command);
  // On the queue the reason itself says what helps.
  if (position.stalled) return implementation === 'temporal' ? [`${ROLL_BACK}.`] : [];
  if (waitingFor?.kind === 'person') {
    const what = waitingFor.gate === 'question' ? '"TEXT"' : '--approve|--reject';
    return [onIt(`agent answer ${request} ${what} --by NAME`)];
  }
  if (waitingFor?.kind === 'operator') {
    const actions = ['show', 'replay', 'discard'];
    return actions.map((action) => {
      const who = action === 'show' ? '' : ' --by NAME --why TEXT';
      return onIt(`agent dead-letters ${action} ${request}${who}`);
    });
  }
  return order?.started && status !== 'ended' ? [onIt(`where ${businessKey(order.id)}`)] : [];
}
