import type { args } from './tools.ts';
import type { z } from 'zod';

// Apart from the schemas, so that a workflow, which sees only arguments that were checked, has none of zod.

/** What a tool does. Its name towards the model may change from one version to the next, this stays. */
export type Does = keyof typeof args;

/** A use of a tool with arguments that have been checked. */
export type ToolUse = { [D in Does]: { does: D } & z.infer<(typeof args)[D]> }[Does];
export type Use<D extends Does> = Extract<ToolUse, { does: D }>;

/** A tool that only asks: several run at the same time, and again after a crash. */
export type Reading = Use<'search'> | Use<'quote'> | Use<'budget'>;

export function isReading(use: ToolUse): use is Reading {
  return use.does === 'search' || use.does === 'quote' || use.does === 'budget';
}

/** Ends the conversation, so it stands alone in its answer: what stands beside it has no result yet. */
export function isLast(use: ToolUse): use is Use<'submit'> | Use<'refuse'> {
  return use.does === 'submit' || use.does === 'refuse';
}
