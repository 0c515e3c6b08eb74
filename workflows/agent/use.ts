import { isCancellation } from '@temporalio/workflow';
import type { ToolResult } from '../../core/agent/events.ts';
import type { Action, ToolCall } from '../../core/agent/next.ts';
import { limitsOf, toolsOf } from '../activities.ts';
import { problemOf } from '../failures.ts';
import { move, record } from '../position.ts';
import type { AgentRun } from './run.ts';
import { tell } from './tell.ts';

/** Uses the tools that only ask, all of them at the same time; an answer of the model is let ask for a few only. */
export async function use(
  run: AgentRun,
  { turn, calls }: Action & { do: 'use-tools' },
): Promise<void> {
  move(run, { step: 'use', status: 'running' });
  const results = await Promise.all(calls.map((call) => used(run, call)));
  tell(run, { kind: 'tools-used', turn, results });
  const failed = results.filter(({ ok }) => !ok).length;
  record(run, { type: 'used', turn, tools: calls.map((call) => call.use.does), failed });
}

/** A tool that can't be used, however often it is tried, is the model's problem and not an operator's: it may know another way. */
async function used({ input }: AgentRun, toolCall: ToolCall): Promise<ToolResult> {
  const { request, policy, limits } = input;
  const { supplier, finance } = toolsOf(policy);
  const { does } = toolCall.use;
  const { useTool } = does === 'budget' ? finance : supplier;
  const { maxResultChars } = limits;
  const call = {
    limits: limitsOf(policy),
    input: { request, limits: { maxResultChars } },
    toolCall,
  };
  try {
    return await useTool.executeWithOptions({ summary: does }, [call]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { callId: toolCall.callId, ok: false, error: problemOf(error).message };
  }
}
