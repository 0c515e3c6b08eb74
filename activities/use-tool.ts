import { useTool } from '../agent/use-tool.ts';
import type { ToolDependencies, ToolInput } from '../agent/use-tool.ts';
import type { ToolResult } from '../core/agent/events.ts';
import type { ToolCall } from '../core/agent/next.ts';
import { attempt } from './attempt.ts';
import type { AttemptCall } from './attempt.ts';

export interface UseToolCall extends AttemptCall {
  input: ToolInput;
  toolCall: ToolCall;
}

export function toolActivities(tools: ToolDependencies) {
  return {
    /** Uses a tool that only asks. What it says is in the store; the result has its name, or the partner's no. */
    useTool: ({ input, toolCall, ...call }: UseToolCall): Promise<ToolResult> =>
      attempt(call, ({ read }) => useTool(tools, input, toolCall, read)),
  };
}
