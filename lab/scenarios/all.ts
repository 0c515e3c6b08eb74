import type { Scenario } from '../scenario.ts';
import { ackLost } from './ack-lost.ts';
import { agentApprovalDays } from './agent-approval-days.ts';
import { agentBadModel } from './agent-bad-model.ts';
import { agentBudget } from './agent-budget.ts';
import { agentCrashMatrix } from './agent-crash-matrix.ts';
import { agentInjection } from './agent-injection.ts';
import { agentPayload } from './agent-payload.ts';
import { agentToolChange } from './agent-tool-change.ts';
import { ambiguousCharge } from './ambiguous-charge.ts';
import { ambiguousPlace } from './ambiguous-place.ts';
import { approval } from './approval.ts';
import { badDeploy } from './bad-deploy.ts';
import { burst } from './burst.ts';
import { crashMatrix } from './crash-matrix.ts';
import { deployReordersSteps } from './deploy-reorders-steps.ts';
import { duplicateDelivery } from './duplicate-delivery.ts';
import { duplicateSubmit } from './duplicate-submit.ts';
import { elephant } from './elephant.ts';
import { killWorker } from './kill-worker.ts';
import { noRules } from './no-rules.ts';
import { onceAndTheMail } from './once-and-the-mail.ts';
import { producerDies } from './producer-dies.ts';
import { redriveADayLater } from './redrive-a-day-later.ts';
import { slowSuccess } from './slow-success.ts';
import { successor } from './successor.ts';
import { supplierOutage } from './supplier-outage.ts';
import { threeSteps } from './three-steps.ts';
import { wakeOnThursday } from './wake-on-thursday.ts';
import { zombieLate } from './zombie-late.ts';
import { zombie } from './zombie.ts';
import { whereIsIt } from './where-is-it.ts';

/** In the order in which the table shows them. */
export const scenarios: readonly Scenario[] = [
  whereIsIt,
  killWorker,
  crashMatrix,
  successor,
  zombie,
  zombieLate,
  slowSuccess,
  duplicateDelivery,
  ackLost,
  ambiguousCharge,
  ambiguousPlace,
  redriveADayLater,
  duplicateSubmit,
  producerDies,
  wakeOnThursday,
  approval,
  deployReordersSteps,
  badDeploy,
  noRules,
  threeSteps,
  onceAndTheMail,
  supplierOutage,
  burst,
  elephant,
  agentCrashMatrix,
  agentPayload,
  agentBudget,
  agentApprovalDays,
  agentBadModel,
  agentToolChange,
  agentInjection,
];
