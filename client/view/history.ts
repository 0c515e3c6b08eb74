import type { HistoryEntry } from '../../core/history.ts';
import { formatNanoEur } from '../../core/agent/prices.ts';
import { clean, text } from './text.ts';
import { localTime } from './time.ts';

/** The history of a run, oldest first, one event a line. `cut` entries before the first were dropped. */
export function historyLines(history: readonly HistoryEntry[], cut = 0): string[] {
  const lines = history.map((entry) => `  ${localTime(entry.at)}  ${inWords(entry)}`);
  return cut === 0 ? lines : [`  (${cut} earlier entries are not kept)`, ...lines];
}

function inWords(entry: HistoryEntry): string {
  switch (entry.type) {
    case 'started':
      return entry.revision > 1 ? text`started, revision ${entry.revision}` : 'started';
    case 'step-done':
      return text`${entry.step} done${optional(': ', entry.detail)}`;
    case 'waiting':
      return text`waiting at ${entry.step}${optional(' for ', entry.gate)}${until(entry.until)}`;
    case 'reminded':
      return text`${entry.who} reminded of ${entry.gate}`;
    case 'escalated':
      return text`${entry.gate} escalated to ${entry.who}`;
    case 'decided':
      return text`${entry.by} answered ${entry.gate} (version ${entry.gateVersion}): ${entry.decision}${optional(', ', entry.note)}`;
    case 'decision-conflict':
      return text`answer not taken, ${entry.conflict}: ${entry.by} to ${entry.gate} (version ${entry.gateVersion}): ${entry.decision}`;
    case 'cancel-requested':
      return text`${entry.by} cancelled: ${entry.reason}`;
    case 'cancel-too-late':
      return text`cancel came too late, ${entry.by}: ${entry.reason}`;
    case 'undo-done':
      return text`${entry.step} undone`;
    case 'undo-failed':
      return text`${entry.step} could not be undone: ${entry.reason}`;
    case 'stuck':
      return text`stuck at ${entry.step}: ${entry.reason}`;
    case 'replayed':
      return text`${entry.by} replayed ${entry.step}: ${entry.why}`;
    case 'fixed':
      return text`${entry.by} fixed the order at ${entry.step}: ${entry.why}`;
    case 'discarded':
      return text`${entry.by} discarded the run at ${entry.step}: ${entry.why}`;
    case 'reset':
      return text`${entry.by} reset the run to before event ${entry.toEvent}: ${entry.why}`;
    case 'thought': {
      const wants = entry.tools.length === 0 ? 'to no use' : `wants ${entry.tools.join(', ')}`;
      return text`turn ${entry.turn}: ${wants} (${entry.tokens} tokens, ${formatNanoEur(entry.nanoEur)})`;
    }
    case 'used':
      return text`turn ${entry.turn}: used ${entry.tools.join(', ')}${entry.failed === 0 ? '' : `, ${entry.failed} in vain`}`;
    case 'calls-lost':
      return text`turn ${entry.turn}: ${entry.lostCalls} calls of the model lost so far, each charged at its most`;
    case 'order-started':
      return text`order ${entry.orderRef} started`;
    case 'order-ended':
      return text`order ${entry.orderRef} ended, ${entry.outcome}`;
    case 'ended':
      return text`ended, ${entry.outcome}${optional(': ', entry.reason)}`;
    default:
      // A newer worker may tell of things this command line doesn't know yet.
      return clean(JSON.stringify(entry satisfies never));
  }
}

function optional(before: string, value: string | undefined): string {
  return value === undefined || value === '' ? '' : before + value;
}

function until(iso: string | undefined): string {
  return iso === undefined ? '' : ` until ${localTime(iso)}`;
}
