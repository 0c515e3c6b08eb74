import { orderIdOfRequest, requestIdOf } from '../../core/agent/identity.ts';
import type { AgentPolicy } from '../../core/agent/policy.ts';
import { businessKey, type OrderId } from '../../core/identity.ts';
import { hasEnded, untilAgent } from '../../lab/observe/agents.ts';
import { LIMIT_MS } from '../../lab/observe/until.ts';
import { labRequest } from '../../lab/world/agents.ts';
import type { World } from '../../lab/world/world.ts';
import type { FaultSpec } from '../../partners/control.ts';
import { STAGES_IN_FLIGHT, type Stage } from '../stages.ts';

/** One way through a run of the buying agent, recorded from a real one. */
export interface AgentPath {
  name: string;
  /** Recorded at every stage of the change; otherwise only where runs may still be open. */
  everywhere?: true;
  text: string;
  limits?: Partial<AgentPolicy>;
  /** Faults that are there before the agent is asked. */
  faults?: (id: OrderId) => FaultSpec[];
  /** What happens between ask and end. */
  happens?: (world: World, id: OrderId) => Promise<void>;
  /** The server suggests another execution early, and each is recorded: how many there are. */
  executions?: number;
}

const CHAIRS = '4 office chairs under 200 euro each, delivered in Utrecht';
/** A person must approve it, whatever it costs. */
const dear = { approvalLimits: {} };

const paths: readonly AgentPath[] = [
  { name: 'agent-plain', everywhere: true, text: CHAIRS },
  {
    name: 'agent-asked',
    text: `${CHAIRS}, ask me first`,
    happens: (world, id) => answer(world, id, { gate: 'question', text: 'blue' }),
  },
  {
    name: 'agent-approved',
    everywhere: true,
    text: CHAIRS,
    limits: dear,
    happens: (world, id) => answer(world, id, { gate: 'approval', decision: 'approve' }),
  },
  {
    name: 'agent-rejected',
    text: CHAIRS,
    limits: dear,
    happens: (world, id) => answer(world, id, { gate: 'approval', decision: 'reject' }),
  },
  {
    name: 'agent-cancelled-while-asked',
    text: `${CHAIRS}, ask me first`,
    async happens(world, id) {
      await waiting(world, id);
      await cancel(world, id);
    },
  },
  {
    name: 'agent-cancelled-while-ordered',
    text: CHAIRS,
    faults: (id) => [
      {
        partner: 'payments',
        operation: 'charge',
        reference: businessKey(orderIdOfRequest(id)),
        times: 1,
        effect: { kind: 'hang-after' },
      },
    ],
    async happens(world, id) {
      const faultId = await heldOf(world, orderIdOfRequest(id));
      await cancel(world, id);
      await untilAgent(world, id, ({ history }) =>
        history.some(({ type }) => type === 'cancel-requested'),
      );
      await world.partners.clearFault(faultId);
    },
  },
  {
    name: 'agent-lost-call',
    text: CHAIRS,
    faults: (id) => [
      {
        partner: 'model',
        operation: 'complete',
        reference: businessKey(id),
        times: 1,
        effect: { kind: 'status', status: 500 },
      },
    ],
  },
  { name: 'agent-exhausted', text: `${CHAIRS} [model: endless]`, limits: { maxTurns: 2 } },
  { name: 'agent-chain', text: CHAIRS, executions: 2 },
];

/** The paths of the agent that are recorded at a stage. */
export function agentPathsOf(stage: Stage): readonly AgentPath[] {
  return paths.filter(({ everywhere }) => everywhere ?? STAGES_IN_FLIGHT.includes(stage));
}

/** The names of its files: of a chain there is one for each execution. */
export function filesOfPath({ name, executions }: AgentPath): string[] {
  if (executions === undefined) return [name];
  return Array.from({ length: executions }, (_, n) => `${name}-${n + 1}`);
}

/** Asks the agent and does what happens on the path. Returns the run's id when it has ended. */
export async function runAgent(world: World, path: AgentPath): Promise<OrderId> {
  const requestRef = path.name.replace(/^agent/, 'REQ');
  // The buyer of the recorded orders: that of a world has another name each time.
  const asked = labRequest(
    { world: 'acme', policy: world.policy },
    requestRef,
    path.text,
    path.limits,
  );
  const id = requestIdOf(asked.request);
  for (const fault of path.faults?.(id) ?? []) await world.partners.setFault(fault);
  const { pipeline } = await world.agents();
  const { kind } = await pipeline.ask(asked);
  if (kind !== 'started') throw new Error(`${path.name}: ask answered ${kind}`);
  await path.happens?.(world, id);
  await untilAgent(world, id, hasEnded);
  return id;
}

async function waiting(world: World, id: OrderId) {
  return untilAgent(world, id, ({ status }) => status === 'waiting');
}

type Said =
  { gate: 'question'; text: string } | { gate: 'approval'; decision: 'approve' | 'reject' };

async function answer(world: World, id: OrderId, said: Said): Promise<void> {
  await waiting(world, id);
  const { pipeline } = await world.agents();
  const { kind } = await pipeline.answer(id, { ...said, gateVersion: 1, by: 'Ada' });
  if (kind !== 'accepted') throw new Error(`answer to ${id.orderRef}: ${kind}`);
}

async function cancel(world: World, id: OrderId): Promise<void> {
  const { pipeline } = await world.agents();
  const { kind } = await pipeline.cancel(id, 'Ada', 'changed our mind');
  if (kind !== 'requested') throw new Error(`cancel of ${id.orderRef}: ${kind}`);
}

/** The fault that holds a request of the order. */
async function heldOf(world: World, orderId: OrderId): Promise<string> {
  const faults = await world.partners.faults();
  const own = faults.find(({ fault }) => fault.reference === businessKey(orderId));
  if (!own) throw new Error(`${orderId.orderRef} has no fault of its own`);
  await world.partners.waitUntilHeld({ faultId: own.faultId }, LIMIT_MS);
  return own.faultId;
}
