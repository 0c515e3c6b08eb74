import { z } from 'zod';
import type { ToolDescription } from './messages.ts';
import type { Does, ToolUse } from './uses.ts';

/** More digits than anybody buys; the order's own rules allow more. */
const quantity = z
  .string()
  .regex(/^(?!0+(\.0+)?$)\d{1,7}(\.\d{1,3})?$/)
  .describe('how many, a decimal above 0, such as "40"');
const amount = z
  .string()
  .regex(/^\d{1,10}(\.\d{1,2})?$/)
  .describe('in the currency of the request, such as "1234.50"');
const id = (what: string) => z.string().min(1).max(100).describe(what);
const words = (what: string, max: number) => z.string().regex(/\S/).max(max).describe(what);

/** What each tool takes: the one source for what the model is told and for what is let through. */
export const args = {
  search: z.strictObject({ query: words('what is looked for, in a few words', 200) }),
  quote: z.strictObject({
    supplierId: id('as the search gave it'),
    sku: id('as the search gave it'),
    quantity,
  }),
  budget: z.strictObject({ amount }),
  ask: z.strictObject({ question: words('one question', 1_000) }),
  submit: z.strictObject({
    supplierId: id('the supplier that quoted'),
    lines: z
      .array(z.strictObject({ sku: id('an article that was quoted'), quantity }))
      .min(1)
      .max(50),
  }),
  refuse: z.strictObject({ reason: words('why, for the requester', 1_000) }),
};

export interface Tool {
  name: string;
  does: Does;
  description: string;
}

export function describeTool({ name, does, description }: Tool): ToolDescription {
  const parameters = z.toJSONSchema(args[does], { target: 'draft-7' });
  delete parameters.$schema;
  return { name, description, parameters };
}

/** The use, or in words what is wrong with the arguments. `text` is as the model wrote it. */
export function readArguments(
  does: Does,
  text: string,
): { ok: true; use: ToolUse } | { ok: false; error: string } {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    return { ok: false, error: 'the arguments are no JSON' };
  }
  const parsed = args[does].safeParse(input);
  if (!parsed.success) return { ok: false, error: z.prettifyError(parsed.error).slice(0, 500) };
  // The schema of `does` parsed it, which a lookup by a union of keys cannot say.
  return { ok: true, use: { does, ...parsed.data } as ToolUse };
}
