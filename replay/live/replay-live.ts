import type { AsyncWorkflowListIterable } from '@temporalio/client';
import { failureLines, type Answer } from '../answer.ts';
import { withBundle } from '../gate/bundle.ts';
import { replayGate } from '../gate/gate.ts';
import type { History, KnownHistory } from '../history/file.ts';
import { openRuns, withServer, type Server } from './server.ts';

export interface LiveOptions {
  /** Which of the open runs. Default: those on the project's task queue. */
  query?: string;
  limit: number;
  /** Default: the workflows as they are now. */
  bundle?: string;
  announce: (text: string) => void;
}

/** How many histories are fetched ahead of the replay. */
const FETCHED_AT_ONCE = 4;

/**
 * Replays the open runs of a server against the code that is about to be shipped: which would go on,
 * and which would stall. Reads lists and histories, and sends nothing. Throws when the server can't be
 * reached or does not take the query.
 */
export function replayLive({ query, limit, bundle, announce }: LiveOptions): Promise<Answer> {
  return withServer((server) =>
    withBundle(bundle, async (code) => {
      const open = openRuns(server, query);
      announce(`looking at ${server.described}`);
      const { count } = await server.client.workflow.count(open);
      const total = Math.min(count, limit);
      const seen = { runs: 0, notBegun: 0 };
      const histories = begun(server, open, limit, seen);
      const result = await replayGate(code, histories, {
        announce: (name) => announce(`${seen.runs} of ${total}: ${name}`),
      });
      const { failures } = result;
      const fine = seen.runs - failures.length;
      const lines = [
        ...failureLines(failures),
        server.described,
        `${seen.runs} of ${count} open runs looked at: ${fine} fine, ${failures.length} would stall.`,
        ...(seen.notBegun > 0 ? [`${seen.notBegun} of the fine ones have not begun.`] : []),
        ...(count > limit ? [`The others were left out by --limit ${limit}.`] : []),
      ];
      const json = { open: count, lookedAt: seen.runs, fine, notBegun: seen.notBegun, failures };
      return { ok: failures.length === 0, text: lines.join('\n'), json };
    }),
  );
}

/** The histories of open runs that any code has run in. Counts all of them in `seen`. */
async function* begun(
  { client }: Server,
  query: string,
  limit: number,
  seen: { runs: number; notBegun: number },
): AsyncGenerator<KnownHistory> {
  const listed = firstOf(client.workflow.list({ query }), limit);
  for await (const { workflowId, history: fetched } of listed) {
    seen.runs++;
    // The SDK's type leaves room for JSON too; the client gives the server's own message.
    const history = fetched as History;
    const hasBegun = history.events?.some((event) => event.workflowTaskCompletedEventAttributes);
    if (hasBegun === true) yield { name: workflowId, workflowId, history };
    else seen.notBegun++;
  }
}

async function* firstOf(runs: AsyncWorkflowListIterable, limit: number) {
  let left = limit;
  for await (const each of runs.intoHistories({ concurrency: FETCHED_AT_ONCE })) {
    yield each;
    if (--left === 0) return;
  }
}
