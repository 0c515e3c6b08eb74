import type { RunPosition, WaitingFor } from '../core/contract.ts';
import type { HistoryEntry } from '../core/history.ts';

/** The position as a few sentences of Markdown, for people who look at the run on Temporal's web page. */
export function inWords(position: RunPosition): string {
  const { step, status, outcome, reason, waitingFor, since, history } = position;
  const headline =
    outcome === undefined
      ? `**${status}** at step **${step}** since ${since}`
      : `**${outcome}**${reason === undefined ? '' : `: ${reason}`}`;
  const waiting = waitingFor === undefined ? [] : [waitingInWords(waitingFor)];
  const last = history.slice(-10).map((entry) => `- ${entryInWords(entry)}`);
  return [headline, ...waiting, '', ...last].join('\n');
}

function waitingInWords(waitingFor: WaitingFor): string {
  switch (waitingFor.kind) {
    case 'person': {
      const until = waitingFor.until === undefined ? '' : `, until ${waitingFor.until}`;
      return `Waiting for ${waitingFor.who} to answer ${waitingFor.gate} v${waitingFor.gateVersion}${until}.`;
    }
    case 'date':
      return `Waiting for ${waitingFor.until}: ${waitingFor.what}.`;
    case 'operator':
      return `Waiting for an operator: ${waitingFor.reason}.`;
    default:
      return waitingFor satisfies never;
  }
}

/** What an entry says besides its type, in the order in which it was written. */
function entryInWords({ at, type, ...facts }: HistoryEntry): string {
  const told = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`);
  return [`${at} ${type}`, ...told].join(', ');
}
