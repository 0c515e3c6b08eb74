import type { AgentPipeline } from '../core/agent/contract.ts';
import type {
  Cannot,
  DeadLetters,
  Implementation,
  ListResult,
  Pipeline,
} from '../core/contract.ts';
import type { OrderId } from '../core/identity.ts';

/** Runs of one kind, as far as commands treat orders and requests alike: found by name, helped by an operator. */
export interface Runs {
  implementation: Implementation;
  /** Also what a run is called in a JSON document. */
  noun: 'order' | 'request';
  /** What their commands begin with. */
  prefix: '' | 'agent ';
  deadLetters: Pick<DeadLetters, 'list' | 'replay' | 'discard'>;
  where(id: OrderId): Promise<{ kind: 'position' } | { kind: 'not-found' } | Cannot>;
  /** Whoever's runs have this reference. */
  named(reference: string): Promise<ListResult<{ id: OrderId }>>;
}

/** As many as are told apart when a reference is not enough. */
const limit = 100;

export function ordersOf(pipeline: Pipeline): Runs {
  const { implementation, deadLetters } = pipeline;
  return {
    implementation,
    noun: 'order',
    prefix: '',
    deadLetters,
    where: (id) => pipeline.where(id),
    named: (orderRef) => pipeline.list({ orderRef, limit }),
  };
}

export function requestsOf(agents: AgentPipeline): Runs {
  const { implementation, deadLetters } = agents;
  return {
    implementation,
    noun: 'request',
    prefix: 'agent ',
    deadLetters,
    where: (id) => agents.where(id),
    named: (requestRef) => agents.list({ requestRef, limit }),
  };
}
