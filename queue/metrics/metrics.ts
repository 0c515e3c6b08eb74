import { collectDefaultMetrics, Counter, Registry } from 'prom-client';

/** What one worker process counts itself. What the database knows is read when somebody asks: gauges.ts. */
export interface Metrics {
  registry: Registry;
  transitions: Counter<'step'>;
  failures: Counter<'step' | 'class'>;
  lostWorkers: Counter<'step'>;
  leaseLosses: Counter;
  staleWrites: Counter;
  effectsPrevented: Counter<'partner'>;
  messages: Counter<'queue' | 'result'>;
  timersFired: Counter;
  swept: Counter<'what'>;
  pruned: Counter<'what'>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: `q2t_${name}`, help, labelNames, registers });
  collectDefaultMetrics({ register: registry, prefix: 'q2t_' });
  return {
    registry,
    transitions: counter('transitions_total', 'Committed transitions of runs', ['step']),
    failures: counter('failures_total', 'Failed attempts by class', ['step', 'class']),
    lostWorkers: counter('lost_workers_total', 'Leases that nobody gave back', ['step']),
    leaseLosses: counter('lease_losses_total', 'Runs and children taken over from this worker'),
    staleWrites: counter(
      'stale_writes_refused_total',
      'Writes that an old token did not get to make',
    ),
    effectsPrevented: counter(
      'duplicate_effects_prevented_total',
      'Effects that the ledger or the partner knew already',
      ['partner'],
    ),
    messages: counter('messages_total', 'Messages handled', ['queue', 'result']),
    timersFired: counter('timers_fired_total', 'Timers fired by this process'),
    swept: counter('swept_total', 'What the sweep had to find', ['what']),
    pruned: counter('pruned_total', 'Runs and messages deleted for their age', ['what']),
  };
}
