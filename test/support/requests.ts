import { randomBytes } from 'node:crypto';
import { toAgentAsk } from '../../core/agent/input.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { defaultAgentPolicy } from '../../core/agent/policy.ts';
import type { AgentPolicy } from '../../core/agent/policy.ts';
import { priceOf } from '../../core/agent/prices.ts';
import { parseRequest } from '../../core/agent/request.ts';
import type { Policy } from '../../core/policy.ts';
import { quickPolicy } from './orders.ts';

export interface RequestShape {
  buyerId?: string;
  limits?: Partial<AgentPolicy>;
  policy?: Partial<Policy>;
}

/** A request under a reference of its own, to the scripted model; technical waits are short, days stay days. */
export function aRequest(words: string, shape: RequestShape = {}): AgentAsk {
  const { buyerId = 'acme', limits = {} } = shape;
  const policy = { ...quickPolicy, ...shape.policy };
  const parsed = parseRequest({
    requestRef: `REQ-${randomBytes(6).toString('hex')}`,
    buyer: { id: buyerId, name: 'Acme & Sons', email: 'orders@acme.example' },
    text: words,
    currency: 'EUR',
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const price = priceOf('scripted-1');
  if (!price) throw new Error('the scripted model has no price');
  return toAgentAsk({
    request: parsed.request,
    limits: {
      ...defaultAgentPolicy,
      approvalLimits: { EUR: '2500' },
      modelTimeoutMs: policy.partnerTimeoutMs,
      ...limits,
    },
    policy,
    model: 'scripted-1',
    price,
  });
}
