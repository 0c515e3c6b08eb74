import type { WorkflowBundleOption } from '@temporalio/worker';
import { cutsOf } from '../history/cut.ts';
import type { KnownHistory } from '../history/file.ts';
import { findDeviation, type Deviation } from './find.ts';
import { replayAll } from './replay.ts';

/** A history that the code does not follow. */
export interface Failure extends Deviation {
  name: string;
  workflowId: string;
}

export interface GateResult {
  /** Whole histories that were replayed, and beginnings of them. */
  histories: number;
  cuts: number;
  /** In all that was replayed. */
  events: number;
  failures: Failure[];
}

/**
 * Replays the histories against the bundle, and, with `cut`, what stood of each after every workflow task
 * (of those that replay as a whole: the others would say the same again). `announce` is told what comes next.
 */
export async function replayGate(
  bundle: WorkflowBundleOption,
  histories: AsyncIterable<KnownHistory> | Iterable<KnownHistory>,
  { cut = false, announce = () => {} }: { cut?: boolean; announce?: (name: string) => void } = {},
): Promise<GateResult> {
  const result: GateResult = { histories: 0, cuts: 0, events: 0, failures: [] };
  const failed: { known: KnownHistory; error: string }[] = [];
  async function* withCuts() {
    for await (const known of histories) {
      announce(known.name);
      result.histories++;
      yield known;
      if (!cut || failed.at(-1)?.known === known) continue;
      for (const part of cutsOf(known)) {
        result.cuts++;
        yield part;
      }
    }
  }
  for await (const { known, events, error } of replayAll(bundle, withCuts())) {
    result.events += events;
    if (error !== undefined) failed.push({ known, error });
  }
  for (const { known, error } of failed) {
    announce(`${known.name}: where`);
    const { name, workflowId } = known;
    result.failures.push({ name, workflowId, ...(await findDeviation(bundle, known, error)) });
  }
  return result;
}

/** A failure in one sentence. */
export function failureInWords({ name, eventId, history, code }: Failure): string {
  return `${name}: at event ${eventId} the history ${history}; the code ${code}`;
}
