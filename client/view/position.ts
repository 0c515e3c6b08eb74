import type { Position, RunPosition, Stalled, WaitingFor } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import { stepsOf } from '../../core/steps.ts';
import { commandOn } from './commands.ts';
import { row, text } from './text.ts';
import { when } from './time.ts';

/** A position as a person reads it, one fact a line, nothing told by colour. */
export function positionLines(position: Position, now: Date): string[] {
  const { revision } = position;
  const lines = [headline(position), ...runLines(position, now)];
  return revision > 1 ? [...lines, row('revision', text`${revision}`)] : lines;
}

/** What there is to say about a run of any kind. */
export function runLines(position: RunPosition, now: Date): string[] {
  const { status, since, startedAt, endedAt, waitingFor, stalled } = position;
  const lines: string[] = [];
  if (stalled) lines.push(...stalledLines(stalled, now));
  if (position.reason !== undefined) lines.push(row('reason', text`${position.reason}`));
  if (waitingFor) lines.push(...waitingLines(waitingFor, now));
  if (position.attempts > 0 && status !== 'ended') {
    lines.push(row('attempt', text`${position.attempts}${nextAttempt(position, now)}`));
  }
  if (position.lastFailure !== undefined && status !== 'ended') {
    lines.push(row('failure', text`${position.lastFailure}`));
  }
  if (position.progress !== undefined) lines.push(row('progress', text`${position.progress}`));
  if (!waitingFor && !stalled && status !== 'ended') lines.push(row('since', when(since, now)));
  lines.push(row('started', when(startedAt, now)));
  if (endedAt !== undefined) lines.push(row('ended', when(endedAt, now)));
  return lines;
}

function headline({ id, implementation, version, status, step, outcome }: Position): string {
  const head = text`${businessKey(id)} on ${implementation}: `;
  if (status === 'ended') return head + text`ended, ${outcome ?? 'outcome unknown'}`;
  const steps = stepsOf(version);
  return head + text`${status} at ${step} (step ${steps.indexOf(step) + 1} of ${steps.length})`;
}

function nextAttempt({ nextAttemptAt }: RunPosition, now: Date): string {
  return nextAttemptAt === undefined ? '' : `, next ${when(nextAttemptAt, now)}`;
}

function stalledLines({ reason, since }: Stalled, now: Date): string[] {
  return [row('waits for', text`other code: ${reason}`), row('since', when(since, now))];
}

function waitingLines(waitingFor: WaitingFor, now: Date): string[] {
  const since = row('since', when(waitingFor.since, now));
  switch (waitingFor.kind) {
    case 'person': {
      const { who, gate, gateVersion, until } = waitingFor;
      return [
        row('waits for', text`${who} to answer ${gate} (version ${gateVersion})`),
        since,
        row('until', until === undefined ? 'somebody answers' : when(until, now)),
      ];
    }
    case 'date':
      return [
        row('waits for', text`a date: ${waitingFor.what}`),
        since,
        row('until', when(waitingFor.until, now)),
      ];
    case 'operator':
      return [row('waits for', text`an operator: ${waitingFor.reason}`), since];
    default:
      return waitingFor satisfies never;
  }
}

/** What helps a run on Temporal that has no code to go on with. */
export const ROLL_BACK = 'Roll the workers back or ship code that knows both';

/** The commands that move this run on, for the place where hints go. */
export function nextCommands(position: Position): string[] {
  const order = businessKey(position.id);
  const onIt = (command: string) => commandOn(position.implementation, command);
  if (position.stalled) {
    // On the others the reason itself says what helps.
    if (position.implementation !== 'temporal') return [];
    return position.stalled.resetTo === undefined
      ? [`${ROLL_BACK}.`]
      : [
          `${ROLL_BACK}; to go on with the code that runs now:`,
          onIt(`reset ${order} --by NAME --why TEXT`),
        ];
  }
  switch (position.waitingFor?.kind) {
    case 'person':
      return [onIt(`decide ${order} approve|reject --by NAME`)];
    case 'operator':
      return [
        onIt(`dead-letters show ${order}`),
        onIt(`dead-letters replay ${order} --by NAME --why TEXT`),
        onIt(`dead-letters fix ${order} FILE --by NAME --why TEXT`),
        onIt(`dead-letters discard ${order} --by NAME --why TEXT`),
      ];
    case 'date':
    case undefined:
      return [];
    default:
      return position.waitingFor satisfies never;
  }
}
