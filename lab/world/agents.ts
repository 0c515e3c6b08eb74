import type { AgentPipeline } from '../../core/agent/contract.ts';
import { toAgentAsk } from '../../core/agent/input.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { defaultAgentPolicy } from '../../core/agent/policy.ts';
import type { AgentPolicy } from '../../core/agent/policy.ts';
import { priceOf } from '../../core/agent/prices.ts';
import { parseRequest } from '../../core/agent/request.ts';
import type { OrderId } from '../../core/identity.ts';
import type { Policy } from '../../core/policy.ts';

/** The buying agents of a world. Their buyer is the world, as that of its orders. */
export interface WorldAgents {
  readonly pipeline: AgentPipeline;
  /** A request in words under this reference. The budget is the usual one unless told otherwise. */
  readonly request: (requestRef: string, text: string, limits?: Partial<AgentPolicy>) => AgentAsk;
  /** Makes the wire name the boundaries of this run, and returns that name. */
  readonly watch: (id: OrderId) => string;
  /** Moves one run's clock, and nobody else's. */
  readonly forward: (id: OrderId, ms: number) => Promise<void>;
}

export const CHAIRS_WANTED =
  '40 office chairs under 200 euro each, delivered in Utrecht by 12 January';

const MODEL = 'scripted-1';

/** The default limits, with the model's time-out as short as the lab's others, and forty chairs within what needs nobody. */
export function labRequest(
  { world, policy }: { world: string; policy: Policy },
  requestRef: string,
  text: string,
  limits: Partial<AgentPolicy> = {},
): AgentAsk {
  const buyer = { id: world, name: 'Lab', email: 'lab@example.org' };
  const parsed = parseRequest({ requestRef, buyer, text, currency: 'EUR' });
  const price = priceOf(MODEL);
  if (!parsed.ok || !price) throw new Error(`no request: ${JSON.stringify(parsed)}`);
  return toAgentAsk({
    request: parsed.request,
    limits: {
      ...defaultAgentPolicy,
      approvalLimits: { EUR: '2500' },
      modelTimeoutMs: policy.partnerTimeoutMs,
      ...limits,
    },
    policy,
    model: MODEL,
    price,
  });
}
