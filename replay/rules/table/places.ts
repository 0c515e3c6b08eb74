// Where most edits are made: the credit step, which asks a partner once, on every side.

export const WORKFLOW_STEPS = 'workflows/steps.ts';
export const QUEUE_STEP = 'queue/steps/credit.ts';
export const CHAIN_STEPS = 'queue/chain/steps.ts';

/** The enquiry. */
export const WORKFLOW_ASKS =
  '    const score = await partnersOf(run).bureau.credit({ ...callOf(run, again), amount });\n';
export const QUEUE_ASKS =
  '    act: (call) => partners.bureau.enquire({ key, reference, buyerId: id.buyerId, amount }, call),\n';
export const CHAIN_ASKS =
  "      const enquiry = { key: keyOf('credit'), reference, buyerId: buyer.id, amount };\n";

/** What the step says in the end. */
export const WORKFLOW_SAYS = '    return `score ${score}`;\n';
export const QUEUE_SAYS =
  "  return { kind: 'done', detail: `score ${score}`, found: { score }, performed };\n";

export const WORKFLOW_IMPORTS =
  "import { CancellationScope, sleep } from '@temporalio/workflow';\n";
export const QUEUE_IMPORTS = "import { creditVerdict } from '../../core/decisions.ts';\n";

/** Before the enquiry, where the step has not acted yet. */
export const QUEUE_BEFORE = '  const reference = businessKey(id);\n';
