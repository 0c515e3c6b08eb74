import type { RunInput } from '../../../core/order/run-input.ts';
import type { AgentAsk } from '../../../core/agent/input.ts';
import { carryOut as carryOutAgent } from '../../../workflows/agent/buying-agent.ts';
import { begin as beginAgent } from '../../../workflows/agent/run.ts';
import type { AgentResult, Carried } from '../../../workflows/agent/run.ts';
import { begin, carryOut } from '../../../workflows/carry-out.ts';
import type { Run, RunResult } from '../../../workflows/run.ts';
import {
  approve,
  charge,
  credit,
  invoiceAndClose,
  place,
  price,
  reserve,
  validate,
} from '../../../workflows/steps.ts';

export { priceLines } from '../../../workflows/price.ts';

/** What was deployed before anybody thought of `screen`. */
export async function purchaseOrder(input: RunInput): Promise<RunResult> {
  return carryOut(begin(input, '1'), takeSteps);
}

async function takeSteps(run: Run): Promise<void> {
  await validate(run);
  await price(run);
  await credit(run);
  await approve(run);
  await reserve(run);
  await charge(run);
  await place(run);
  await invoiceAndClose(run);
}

/** Before the agent had another prompt. */
export async function buyingAgent(asked: AgentAsk, carried?: Carried): Promise<AgentResult> {
  return carryOutAgent(beginAgent(asked, ['1'], carried));
}
