import type { Client } from '@temporalio/client';
import { PATCHES } from '../../client/pipelines/temporal/versions-list.ts';
import type { Answer } from '../answer.ts';
import { openRuns, quoted, withServer } from './server.ts';

/**
 * Whether every open run has the patch, so that `deprecatePatch` can take the place of `patched` and the
 * code from before it can go. Reads the list of runs only; the SDK writes the patches of a run there
 * (TemporalChangeVersion) when it takes one. A run that has not come to the patch counts as without it.
 */
export function canRemove({ patch, query }: { patch: string; query?: string }): Promise<Answer> {
  return withServer(async (server) => {
    const { client } = server;
    // Only runs of the type that asks for it can have it.
    const type = query === undefined ? PATCHES.get(patch) : undefined;
    const ofType = type === undefined ? '' : ` AND WorkflowType = ${quoted(type)}`;
    const open = `${openRuns(server, query)}${ofType}`;
    const [all, withPatch] = await Promise.all([
      client.workflow.count(open),
      client.workflow.count(`${open} AND TemporalChangeVersion = ${quoted(patch)}`),
    ]);
    const without = all.count - withPatch.count;
    const oldest = without > 0 ? await oldestWithout(client, open, patch) : undefined;
    const facts = [
      server.described,
      `${all.count} open runs, ${withPatch.count} of them with patch "${patch}", ${without} without.`,
    ];
    const verdict =
      without === 0
        ? `The code from before "${patch}" can go.`
        : `Not yet: they still need the code from before "${patch}".`;
    const age = oldest ? [`The oldest: ${oldest.workflowId}, since ${oldest.startedAt}.`] : [];
    return {
      ok: without === 0,
      text: [...facts, ...age, verdict].join('\n'),
      json: { patch, open: all.count, without, ...(oldest && { oldest }) },
    };
  });
}

/** Looked for here: visibility stores do not agree on how to ask for a list without a value, or to sort. */
async function oldestWithout(client: Client, query: string, patch: string) {
  let oldest: { workflowId: string; startedAt: string } | undefined;
  for await (const { workflowId, startTime, searchAttributes } of client.workflow.list({ query })) {
    const patches = searchAttributes['TemporalChangeVersion'];
    if (Array.isArray(patches) && patches.some((each) => each === patch)) continue;
    const startedAt = startTime.toISOString();
    if (!oldest || startedAt < oldest.startedAt) oldest = { workflowId, startedAt };
  }
  return oldest;
}
