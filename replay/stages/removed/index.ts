import type { AgentAsk } from '../../../core/agent/input.ts';
import type { RunInput } from '../../../core/order/run-input.ts';
import { carryOut as carryOutAgent } from '../../../workflows/agent/buying-agent.ts';
import { begin as beginAgent } from '../../../workflows/agent/run.ts';
import type { AgentResult, Carried } from '../../../workflows/agent/run.ts';
import { begin, carryOut } from '../../../workflows/carry-out.ts';
import type { RunResult } from '../../../workflows/run.ts';
import { takeSteps } from './take-steps.ts';

export { priceLines } from '../../../workflows/price.ts';

/** The last deploy of the four: when no open run has the marker of the patch either. */
export async function purchaseOrder(input: RunInput): Promise<RunResult> {
  return carryOut(begin(input, '2'), takeSteps);
}

/** With the new prompt alone. */
export async function buyingAgent(asked: AgentAsk, carried?: Carried): Promise<AgentResult> {
  return carryOutAgent(beginAgent(asked, ['2'], carried));
}
