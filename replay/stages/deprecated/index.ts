import { deprecatePatch } from '@temporalio/workflow';
import type { AgentAsk } from '../../../core/agent/input.ts';
import type { RunInput } from '../../../core/order/run-input.ts';
import { carryOut as carryOutAgent } from '../../../workflows/agent/buying-agent.ts';
import { begin as beginAgent } from '../../../workflows/agent/run.ts';
import type { AgentResult, Carried } from '../../../workflows/agent/run.ts';
import { begin, carryOut } from '../../../workflows/carry-out.ts';
import type { RunResult } from '../../../workflows/run.ts';
import { takeSteps } from '../removed/take-steps.ts';

export { priceLines } from '../../../workflows/price.ts';

/** The third deploy: when no open run is without the patch. Runs with its marker still are, and may be. */
export async function purchaseOrder(input: RunInput): Promise<RunResult> {
  deprecatePatch('screen');
  return carryOut(begin(input, '2'), takeSteps);
}

/** Asked for as the patch was: in the first execution of a chain only. */
export async function buyingAgent(asked: AgentAsk, carried?: Carried): Promise<AgentResult> {
  if (!carried) deprecatePatch('agent-2');
  return carryOutAgent(beginAgent(asked, ['2'], carried));
}
