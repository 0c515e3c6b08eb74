import assert from 'node:assert/strict';
import type { AgentAnswer, AgentPosition } from '../../core/agent/contract.ts';
import { orderIdOfRequest } from '../../core/agent/identity.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { businessKey, type OrderId } from '../../core/identity.ts';
import type { AgentOutcome } from '../../core/steps.ts';
import type { EffectKind } from '../../partners/contract.ts';
import type { FaultSpec } from '../../partners/control.ts';
import { anOrder, quickPolicy } from '../support/orders.ts';
import { aRequest as anyRequest, type RequestShape } from '../support/requests.ts';
import { until } from '../support/until.ts';
import type { AgentSide } from './agent-side.ts';

const LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;

export interface AgentPath {
  name: string;
  asked: () => AgentAsk;
  outcome: AgentOutcome;
  /** Of the order that came of it; answers of the model are compared with what was charged. */
  effects: Partial<Record<EffectKind, number>>;
  before?: (side: AgentSide, id: OrderId) => Promise<unknown>;
  /** Faults that are there before the request is made. */
  faults?: (id: OrderId) => FaultSpec[];
  happens?: (side: AgentSide, id: OrderId) => Promise<void>;
}

/** A machine that is busy must not look like a partner that is slow: that would be another path. */
const policy = {
  ...quickPolicy,
  partnerTimeoutMs: 30_000,
  attemptTimeoutMs: 60_000,
  heartbeatMs: 20_000,
};
const aRequest = (words: string, shape: RequestShape = {}) =>
  anyRequest(words, { policy, ...shape });

const CHAIRS = '40 office chairs under 200 euro each';
/** Above what the agent may order alone, below what the order itself needs a yes for. */
const LARGE = '100 office chairs under 200 euro each';
const ordered = { enquiry: 1, screening: 1, reservation: 1, charge: 1, order: 1, mail: 1 } as const;

async function answer(
  side: AgentSide,
  id: OrderId,
  said: { text: string } | { decision: 'approve' | 'reject' },
  changes: Partial<Pick<AgentAnswer, 'gate' | 'gateVersion'>> = {},
): Promise<string> {
  const { question } = await side.until(id, (position) => position.question !== undefined);
  const { gate = '', gateVersion = 0 } = { ...question, ...changes };
  const result = await side.pipeline.answer(id, { gate, gateVersion, by: 'Ada', ...said });
  return result.kind === 'conflict' ? result.conflict : result.kind;
}

const asksAt = (gate: string) => (position: AgentPosition) => position.question?.gate === gate;

const model = (id: OrderId, effect: FaultSpec['effect'], times = 1): FaultSpec => ({
  partner: 'model',
  operation: 'complete',
  reference: businessKey(id),
  times,
  effect,
});

const quoting = (sku: string, effect: FaultSpec['effect'], times?: number): FaultSpec => ({
  partner: 'supplier',
  operation: 'quote',
  sku,
  ...(times !== undefined && { times }),
  effect,
});

/** A quote has no reference, so it is known by its fault. */
function heldQuote({ partners }: AgentSide, sku: string) {
  return until(`a quote of ${sku} is held`, async () => {
    const faults = await partners.faults();
    const own = faults.filter(({ fault }) => fault.sku === sku).map(({ faultId }) => faultId);
    const held = await partners.held({ operation: 'quote' });
    return held.find(({ faultId }) => own.includes(faultId));
  });
}

export const agentPaths: readonly AgentPath[] = [
  {
    name: 'carried through to an order',
    asked: () => aRequest(CHAIRS),
    outcome: 'completed',
    effects: ordered,
  },
  {
    name: 'given up, since nobody sells it',
    asked: () => aRequest('3 nothing chairs'),
    outcome: 'refused',
    effects: {},
  },
  {
    name: 'given up, since it is too dear',
    asked: () => aRequest('40 office chairs under 1 euro each'),
    outcome: 'refused',
    effects: {},
  },
  {
    name: 'asked about, and answered, after answers that are none',
    asked: () => aRequest(`${CHAIRS}, ask me first`),
    outcome: 'completed',
    effects: ordered,
    async happens(side, id) {
      assert.equal(await answer(side, id, { text: 'blue' }, { gateVersion: 7 }), 'wrong-gate');
      assert.equal(await answer(side, id, { decision: 'approve' }), 'wrong-gate');
      assert.equal(await answer(side, id, { text: 'blue' }), 'accepted');
    },
  },
  {
    name: 'asked about, and answered by nobody',
    asked: () => aRequest(`${CHAIRS}, ask me first`),
    outcome: 'completed',
    effects: ordered,
    async happens(side, id) {
      await side.until(id, asksAt('question'));
      await side.forward(id, 4 * DAY_MS);
    },
  },
  {
    name: 'large, and approved',
    asked: () => aRequest(LARGE),
    outcome: 'completed',
    effects: ordered,
    async happens(side, id) {
      await side.until(id, asksAt('approval'));
      assert.equal(await answer(side, id, { decision: 'approve' }), 'accepted');
    },
  },
  {
    name: 'large, and not approved',
    asked: () => aRequest(LARGE),
    outcome: 'rejected',
    effects: {},
    async happens(side, id) {
      await side.until(id, asksAt('approval'));
      assert.equal(await answer(side, id, { decision: 'reject' }), 'accepted');
    },
  },
  {
    name: 'large, and forgotten',
    asked: () => aRequest(LARGE),
    outcome: 'expired',
    effects: {},
    async happens(side, id) {
      await side.until(id, asksAt('approval'));
      await side.forward(id, 4 * DAY_MS);
    },
  },
  {
    name: 'taken back while somebody is asked',
    asked: () => aRequest(`${CHAIRS}, ask me first`),
    outcome: 'cancelled',
    effects: {},
    async happens(side, id) {
      await side.until(id, asksAt('question'));
      assert.deepEqual(await side.pipeline.cancel(id, 'Ada', 'no longer needed'), {
        kind: 'requested',
      });
    },
  },
  {
    name: 'taken back while its order is under way',
    asked: () => aRequest(CHAIRS),
    outcome: 'cancelled',
    effects: { enquiry: 1, screening: 1, reservation: 1, release: 1 },
    faults: (id) => [
      {
        partner: 'warehouse',
        operation: 'reserve',
        reference: businessKey(orderIdOfRequest(id)),
        times: 1,
        effect: { kind: 'hang-after' },
      },
    ],
    async happens(side, id) {
      const reference = businessKey(orderIdOfRequest(id));
      const { faultId } = await side.partners.waitUntilHeld({ reference }, LIMIT_MS);
      assert.deepEqual(await side.pipeline.cancel(id, 'Ada', 'no longer needed'), {
        kind: 'requested',
      });
      await side.untilOrder(orderIdOfRequest(id), ({ history }) =>
        history.some(({ type }) => type === 'cancel-requested'),
      );
      await side.partners.clearFault(faultId);
    },
  },
  {
    name: 'refused by the buyer’s bank',
    asked: () => aRequest(CHAIRS),
    outcome: 'refused',
    effects: { enquiry: 1, screening: 1, reservation: 1, release: 1 },
    faults: (id) => [
      {
        partner: 'payments',
        operation: 'charge',
        reference: businessKey(orderIdOfRequest(id)),
        effect: { kind: 'status', status: 402 },
      },
    ],
  },
  {
    name: 'out of turns',
    asked: () => aRequest(`${CHAIRS} [model: endless]`, { limits: { maxTurns: 3 } }),
    outcome: 'exhausted',
    effects: {},
  },
  {
    name: 'out of money',
    asked: () => aRequest(`${CHAIRS} [model: endless]`, { limits: { maxNanoEur: 6_000_000 } }),
    outcome: 'exhausted',
    effects: {},
  },
  {
    name: 'carried through by a model that has to be told twice what JSON is',
    asked: () => aRequest(`${CHAIRS} [model: malformed 2]`),
    outcome: 'completed',
    effects: ordered,
  },
  {
    name: 'in the hands of a model that never learns it',
    asked: () => aRequest(`${CHAIRS} [model: unknown-tool]`),
    outcome: 'exhausted',
    effects: {},
  },
  {
    name: 'carried through while the model is busy',
    asked: () => aRequest(CHAIRS),
    outcome: 'completed',
    effects: ordered,
    faults: (id) => [model(id, { kind: 'status', status: 429, retryAfter: 0 }, 2)],
  },
  {
    name: 'carried through though an answer of the model was lost',
    asked: () => aRequest(CHAIRS),
    outcome: 'completed',
    effects: ordered,
    faults: (id) => [model(id, { kind: 'drop-after' })],
  },
  {
    name: 'carried through though a tool fails twice (B31: the third attempt is one, and seen)',
    asked: () => aRequest('40 velvet chairs under 200 euro each'),
    outcome: 'completed',
    effects: ordered,
    faults: () => [
      quoting('VELVET-CHAIRS-1', { kind: 'status', status: 503, retryAfter: 0 }, 2),
      quoting('VELVET-CHAIRS-1', { kind: 'hang-before' }, 1),
    ],
    async happens(side, id) {
      const { faultId } = await heldQuote(side, 'VELVET-CHAIRS-1');
      const { step, attempts } = await side.until(id, (position) => position.attempts > 2);
      assert.deepEqual([step, attempts], ['use', 3]);
      await side.partners.clearFault(faultId);
    },
  },
  {
    name: 'taken back while a tool is used (B31: which does not swallow it)',
    asked: () => aRequest('40 cork chairs under 200 euro each'),
    outcome: 'cancelled',
    effects: {},
    faults: () => [quoting('CORK-CHAIRS-1', { kind: 'hang-before' })],
    async happens(side, id) {
      const { faultId } = await heldQuote(side, 'CORK-CHAIRS-1');
      await side.pipeline.cancel(id, 'Ada', 'no longer needed');
      const { lastFailure } = await side.until(id, ({ status }) => status === 'ended');
      assert.equal(lastFailure, undefined);
      await side.partners.clearFault(faultId);
    },
  },
  {
    name: 'for an order whose reference another one has',
    asked: () => aRequest(CHAIRS),
    outcome: 'discarded',
    effects: ordered,
    before: (side, id) =>
      side.orders.submit(anOrder({}, { orderRef: orderIdOfRequest(id).orderRef })),
    async happens(side, id) {
      const { step } = await side.until(id, ({ status }) => status === 'stuck');
      assert.equal(step, 'order');
      await side.untilOrder(orderIdOfRequest(id), ({ status }) => status === 'ended');
      await side.pipeline.deadLetters.discard(id, { by: 'Ada', why: 'asked anew' });
    },
  },
];
