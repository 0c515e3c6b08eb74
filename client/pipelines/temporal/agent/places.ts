import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { TranscriptPlace } from '../../../../core/agent/contract.ts';
import { isRef } from '../../../../core/agent/store.ts';
import type { Ref } from '../../../../core/agent/store.ts';
import { AGENT_WORKFLOW, MEMO_TRANSCRIPT } from '../../../../workflows/search-attributes.ts';
import { describeWorkflow, historyOf, isRunning } from '../description.ts';
import { valueOf } from '../deviation.ts';
import type { Event } from '../deviation.ts';

/** Where the run's transcript is, as it wrote it down with its last answer. */
export function memoTranscript({ memo }: Pick<WorkflowExecutionDescription, 'memo'>) {
  // Written by our own workflow and nobody else; before the first answer by nobody.
  return (memo?.[MEMO_TRANSCRIPT] ?? { notes: [] }) as TranscriptPlace;
}

/**
 * Every place that a run which the namespace still has needs. A run that stands still may have results
 * that no worker has taken up: of those its memo does not know yet, but its history does.
 */
export async function* places(client: Client): AsyncGenerator<TranscriptPlace> {
  // One that went on in a new execution has nothing that the new one does not name.
  const query = `WorkflowType = '${AGENT_WORKFLOW}' AND ExecutionStatus != 'ContinuedAsNew'`;
  for await (const listed of client.workflow.list({ query })) {
    if (listed.status.name !== 'RUNNING') {
      yield memoTranscript(listed);
      continue;
    }
    const run = await describeWorkflow(client, listed.workflowId);
    if (!run) continue;
    yield memoTranscript(run);
    if (isRunning(run)) yield* untold(await historyOf(client, run)());
  }
}

/** What activities have put into the store since the memo was written. */
function untold(events: readonly Event[]): TranscriptPlace[] {
  const written = events.findLastIndex((event) => {
    const { upsertedMemo } = event.workflowPropertiesModifiedEventAttributes ?? {};
    return upsertedMemo?.fields && MEMO_TRANSCRIPT in upsertedMemo.fields;
  });
  return events.slice(written + 1).flatMap((event) => {
    const [payload] = event.activityTaskCompletedEventAttributes?.result?.payloads ?? [];
    return placeOf(valueOf(payload));
  });
}

/** A result of `think` names an entry, one of `useTool` a text. */
function placeOf(result: unknown): TranscriptPlace[] {
  const { ref, entry } = (result ?? {}) as { ref?: unknown; entry?: { ref?: unknown } };
  if (isName(entry?.ref)) return [{ head: entry.ref, notes: [] }];
  if (isName(ref)) return [{ notes: [{ role: 'tool', callId: '', ref, size: 0 }] }];
  return [];
}

function isName(value: unknown): value is Ref {
  return typeof value === 'string' && isRef(value);
}
