import type { BlindSpot } from './blind-spots.ts';
import type { WrongChange } from './wrong.ts';

const AGENT = 'workflows/agent/buying-agent.ts';
const ORDER = 'workflows/agent/order.ts';
const RUN = 'workflows/agent/run.ts';
const THINK = 'workflows/agent/think.ts';

const MOVE = "  move(run, { step: 'order', status: 'running' });\n";
const START =
  '  const hash = await checksOf().contentHash(order);\n' +
  '  const child = await CancellationScope.nonCancellable(() => startOrFind(run, order, hash));\n';

/** As `wrongChanges`, of the buying agent. */
export const wrongAgentChanges: readonly WrongChange[] = [
  {
    name: 'the agent asks for two things in another order',
    edits: [
      {
        file: ORDER,
        from: `${MOVE}${START}`,
        to: `${START}${MOVE}`,
      },
    ],
    path: 'agent-plain',
    says: {
      history: 'sets OrderStatus=running, OrderStep=order',
      code: 'starts a child',
    },
  },
  {
    name: "the order of the agent's under another id",
    edits: [
      {
        file: ORDER,
        from: 'workflowId: runIdOf(position.id),',
        to: 'workflowId: `${runIdOf(position.id)}/1`,',
      },
    ],
    path: 'agent-approved',
    says: { history: 'starts child "order/acme/REQ-approved-PO"', code: 'gives it the id' },
  },
  {
    name: 'the agent does not wait after a lost call',
    edits: [
      { file: THINK, from: '  if (wait > 0) await sleep(wait);\n', to: '  void [wait, sleep];\n' },
    ],
    path: 'agent-lost-call',
    says: { history: 'starts a timer', code: 'schedules activity "think"' },
  },
  {
    name: 'the machine of the agent decides otherwise',
    edits: [
      {
        file: 'core/agent/absorb.ts',
        from: 'if (!approvalNeeded(payable, limits)) return',
        to: 'if (!approvalNeeded(payable, limits) || draft) return',
      },
    ],
    path: 'agent-rejected',
    says: { history: 'starts a timer', code: 'asks for nothing' },
  },
];

interface MetBlindSpot extends BlindSpot {
  /** Recorded runs that come to it, `stage/path`. */
  met: readonly string[];
}

/**
 * As `blindSpots`, of the buying agent: much of what it is lies in arguments. All fit one copy of the source.
 * That of a patch taken away too early is in the table of stages (docs/replay.md).
 */
export const agentBlindSpots: readonly MetBlindSpot[] = [
  {
    name: 'a version asked for anew in each execution of a chain',
    edits: [
      {
        file: RUN,
        from: 'carried?.position.version ?? versionFor(asked, versions)',
        to: 'versionFor(asked, versions)',
      },
    ],
    met: ['patched/agent-chain-1', 'patched/agent-chain-2'],
    guard: 'a chain whose version is looked at (test/workflows/agent/chain.test.ts)',
  },
  {
    name: 'a patch asked for again in a later execution: those that have begun are told no, new ones yes',
    edits: [{ file: AGENT, from: '!carried && patched(', to: 'patched(' }],
    met: ['before/agent-chain-2', 'patched/agent-chain-2'],
    guard:
      'the version is carried on and not asked for; `--can-remove` counts a run in a later execution as without the patch',
  },
  {
    name: 'the model called with other limits and retries',
    edits: [
      {
        file: THINK,
        from: 'startToCloseTimeout: limits.modelTimeoutMs + policy.attemptTimeoutMs,',
        to: 'startToCloseTimeout: 1,',
      },
      { file: THINK, from: 'retry: { maximumAttempts: 1 },', to: 'retry: { maximumAttempts: 9 },' },
    ],
    met: ['patched/agent-plain', 'patched/agent-lost-call'],
    guard:
      'calls counted by the model (test/workflows/agent/model.test.ts, the lab’s agent-crash-matrix)',
  },
  {
    name: 'the model told something else',
    edits: [{ file: THINK, from: '...(digest && { digest })', to: '...(digest && {})' }],
    met: ['patched/agent-plain', 'patched/agent-chain-2'],
    guard:
      'unit tests of the turn (test/unit/agent), the inputs in the diff of histories recorded anew',
  },
  {
    name: 'another prompt under a version’s old name',
    edits: [
      { file: 'core/agent/versions.ts', from: 'You buy things for a company.', to: 'You sell.' },
    ],
    met: ['patched/agent-plain'],
    guard: 'the sizes of the prompts in the recorded input (test/replay/stages.test.ts)',
  },
  {
    name: 'lost calls charged otherwise, as long as the budget lasts',
    edits: [
      {
        file: 'core/agent/spend.ts',
        from: 'return { ...add(spent, worst, price), lostCalls',
        to: 'return { ...spent, lostCalls',
      },
    ],
    met: ['patched/agent-lost-call'],
    guard: 'unit tests of the budget (test/unit/agent), the lab’s agent-budget',
  },
];
