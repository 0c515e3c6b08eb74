import type { ToolDependencies } from '../agent/use-tool.ts';
import type { ThinkDependencies } from '../agent/think.ts';
import type { ORDER_PARTNERS, PartnerName, Partners } from '../partners/contract.ts';
import { chargeActivities } from './charge.ts';
import { contentHash } from './content-hash.ts';
import { creditActivities } from './credit.ts';
import { orderActivities } from './follow-order.ts';
import type { Orders } from './follow-order.ts';
import { invoiceActivities } from './invoice.ts';
import type { Invoices } from './invoices.ts';
import { placeActivities } from './place.ts';
import { priceActivities } from './price.ts';
import { reserveActivities } from './reserve.ts';
import { screenActivities } from './screen.ts';
import { thinkActivities } from './think.ts';
import { toolActivities } from './use-tool.ts';
import { validate } from './validate.ts';

export interface ActivityDependencies {
  partners: Omit<Partners, 'close'>;
  invoices: Invoices;
  /** Of the buying agent; without it the worker is for orders only. */
  agent?: AgentDependencies;
}

export interface AgentDependencies extends ThinkDependencies {
  orders: Orders;
}

/** What a worker runs as part of its workflow task: no partner, so no queue of its own. */
export const localActivities = { validate, contentHash };
export type LocalActivities = typeof localActivities;

/**
 * The activities of the purchase order by the partner they talk to, with what they reach the outside
 * world through. The partner says on which task queue they run, and so whose rate they count towards.
 */
export function partnerActivities({ partners, invoices }: ActivityDependencies) {
  const { payments, bureau, warehouse, supplier, mailer } = partners;
  return {
    payments: chargeActivities(payments),
    bureau: { ...creditActivities(bureau), ...screenActivities(bureau) },
    warehouse: reserveActivities(warehouse),
    supplier: { ...priceActivities(supplier), ...placeActivities(supplier) },
    // Writes a row of our own first; the mail is what somebody else's limit is about.
    mailer: invoiceActivities(invoices, mailer),
  } satisfies Record<(typeof ORDER_PARTNERS)[number], object>;
}

/**
 * The same of the buying agent. What it asks suppliers counts towards the one rate that they have for
 * everybody.
 */
export function agentActivities({ supplier, finance, ...agent }: AgentActivityDependencies) {
  const tools = toolActivities({ supplier, finance, store: agent.store });
  return {
    supplier: tools,
    finance: tools,
    // Not of the model, but of the agent alone, as this queue is.
    model: { ...thinkActivities(agent), ...orderActivities(agent.orders) },
  } satisfies Partial<Record<PartnerName, object>>;
}

type AgentActivityDependencies = AgentDependencies & Omit<ToolDependencies, 'store'>;

/** What workflows know of the activities: types only, never the code. */
export type PartnerActivities = ReturnType<typeof partnerActivities>;
export type AgentActivities = ReturnType<typeof agentActivities>;
