import { useTool } from '../../../agent/use-tool.ts';
import { absorb } from '../../../core/agent/absorb.ts';
import type { ToolResult } from '../../../core/agent/events.ts';
import { next } from '../../../core/agent/next.ts';
import type { ToolCall } from '../../../core/agent/next.ts';
import { StepFailure } from '../../../core/failures.ts';
import { NotYet } from '../../ledger/effect.ts';
import { waitForPartner } from '../../limits/partner-limit.ts';
import { ToldFailure } from '../../steps/step.ts';
import type { StepResult } from '../../steps/step.ts';
import type { Db } from '../../transport/contract.ts';
import { follow, partsOf, stateOf } from '../follow.ts';
import type { AgentContext, AgentStepCode } from '../follow.ts';

/**
 * Uses the tools that only ask, all that the partners' rates let through at the same time. No ledger:
 * asking again does no harm. A partner that fails until the attempts are used up is an answer too, for
 * the model and not for an operator.
 */
export const use: AgentStepCode = async (context) => {
  const { run, input, partners, db, read } = context;
  const action = next(input, stateOf(run));
  if (action.do !== 'use-tools') return follow(input, stateOf(run));
  const calls = await letThrough(db, action.calls);
  const { supplier, finance } = partners;
  const tools = { supplier, finance, store: partsOf(context).store };
  const answers = await read(async (partnerCall) => {
    const asked = calls.map((call) => useTool(tools, input, call, partnerCall));
    const settled = await Promise.allSettled(asked);
    partnerCall.signal?.throwIfAborted();
    return settled;
  });
  const failures = answers.flatMap((each) =>
    each.status === 'rejected' ? [each.reason as unknown] : [],
  );
  const [first] = failures;
  if (first === undefined) return told(context, calls, answers);
  const bug = failures.find((failure) => !(failure instanceof StepFailure));
  if (bug !== undefined || !(first instanceof StepFailure)) throw bug;
  const onGiveUp = told(context, calls, answers);
  throw new ToldFailure(first, onGiveUp.kind === 'next' ? { onGiveUp } : {});
};

/** Those for which there is a slot now; the others come next. Throws NotYet when there is none at all. */
async function letThrough(db: Db, calls: readonly ToolCall[]): Promise<ToolCall[]> {
  const ready: ToolCall[] = [];
  for (const call of calls) {
    const partner = call.use.does === 'budget' ? 'finance' : 'supplier';
    const waitMs = await waitForPartner(db, partner);
    if (waitMs === 0) ready.push(call);
    else if (ready.length > 0) break;
    else throw new NotYet(waitMs, `${partner} asked everybody to wait`);
  }
  return ready;
}

/** What the model is told of each: what was found, or why not. */
function told(
  { run, input }: AgentContext,
  calls: readonly ToolCall[],
  answers: readonly PromiseSettledResult<ToolResult>[],
): Extract<StepResult, { kind: 'next' | 'end' }> {
  const state = stateOf(run);
  const { turn } = state;
  const results = answers.map((each, index): ToolResult => {
    if (each.status === 'fulfilled') return each.value;
    const { message } = each.reason as Error;
    return { callId: calls[index]?.callId ?? '', ok: false, error: message };
  });
  const after = absorb(input, state, { kind: 'tools-used', turn, results });
  const tools = calls.map(({ use: { does } }) => does);
  const failed = results.filter(({ ok }) => !ok).length;
  return follow(input, after, { history: [{ type: 'used', turn, tools, failed }] });
}
