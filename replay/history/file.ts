import { readFile, readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { temporal } from '@temporalio/proto';
import { z } from 'zod';
import { badInput } from '../../client/errors.ts';
import { projectRoot } from '../../stack/runtime.mjs';
import type { Json } from './json.ts';
import { withRawPayloads } from './payloads.ts';

export type History = temporal.api.history.v1.IHistory;

/** Where `npm run histories` puts them: one folder for each stage of the code, one file for each path. */
export const HISTORIES_DIR = join(projectRoot, 'test', 'histories');

/** What stands above the events in a recorded file. */
export interface RecordedFacts {
  stage: string;
  path: string;
  workflowId: string;
  /** Of the SDK whose worker ran it, and of the server. */
  sdk: string;
  server: string;
}

/** A history to replay, wherever it comes from. */
export interface KnownHistory {
  /** What reports call it. */
  name: string;
  /** Child ids are made of it, so a replay needs the one it ran under. */
  workflowId: string;
  history: History;
}

const fileSchema = z.looseObject({
  workflowId: z.string().optional(),
  events: z.array(z.looseObject({ eventId: z.string() })).nonempty(),
});

/** A recorded file as text: the facts, then one event a line, so that a diff shows which events changed. */
export function formatHistory(facts: RecordedFacts, events: readonly Json[]): string {
  const head = Object.entries(facts).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  const lines = events.map((event) => `    ${JSON.stringify(event)}`);
  return ['{', ...head, '  "events": [', lines.join(',\n'), '  ]', '}', ''].join('\n');
}

/**
 * Reads a recorded history, or one as `temporal workflow show --output json` writes it. Throws a
 * CommandError that names the file when it is none.
 */
export async function readHistory(file: string): Promise<KnownHistory> {
  const name = nameOf(file);
  try {
    const parsed = JSON.parse(await readFile(file, 'utf8')) as Json;
    const { workflowId } = fileSchema.parse(parsed);
    const history = historyFromJSON(withRawPayloads(parsed));
    return { name, workflowId: workflowId ?? firstWorkflowId(history) ?? name, history };
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw badInput(`${file} is no workflow history: ${why}`);
  }
}

/** The recorded files of a stage, by name. */
export async function filesOf(stage: string, dir = HISTORIES_DIR): Promise<string[]> {
  const names = await readdir(join(dir, stage));
  const files = names.filter((name) => name.endsWith('.json')).sort();
  if (files.length === 0) throw new Error(`no history in ${join(dir, stage)}: npm run histories`);
  return files.map((name) => join(dir, stage, name));
}

function nameOf(file: string): string {
  const inside = relative(HISTORIES_DIR, file);
  return (inside.startsWith('..') ? basename(file) : inside).replace(/\.json$/, '');
}

function firstWorkflowId({ events }: History): string | undefined {
  return events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? undefined;
}
