import { Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';
import { WATCHED_QUEUES } from './observe.ts';
import type { Observation } from './observe.ts';

/** Puts an observation into the registry's gauges; absent ages are NaN, which no threshold mistakes for young. */
export function gaugesOf({ registry }: Metrics): (observed: Observation) => void {
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `q2t_${name}`, help, labelNames, registers });
  const messages = gauge('queue_messages', 'Messages by state', ['queue', 'state']);
  const age = gauge('queue_oldest_age_seconds', 'Age of the oldest available message', ['queue']);
  const runs = gauge('runs', 'Runs that have not ended', ['status']);
  const started = gauge('runs_started_last_minute', 'Arrival rate');
  const ended = gauge(
    'runs_ended_last_minute',
    'Completion rate: below arrival, it is not draining',
  );
  const unserved = gauge('runs_unserved', 'Runs whose version no live worker has');
  const dead = gauge('dead_letters_open', 'Runs that wait for an operator');
  const doubles = gauge('double_effects', 'Effects proven to have happened twice');
  const disagreements = gauge('ledger_disagreements', 'Keys where a partner and the ledger differ');
  const canary = gauge('canary_age_seconds', 'Since a canary was last seen among the dead');
  const look = gauge('dead_letters_last_look_seconds', 'Since somebody looked at the dead letters');
  const late = gauge('late_timers', 'Timers due for over a minute and not fired');
  return (observed) => {
    for (const queue of WATCHED_QUEUES) {
      const { oldestAgeMs, ...counts } = observed.queues[queue];
      for (const [state, n] of Object.entries(counts)) messages.set({ queue, state }, n);
      age.set({ queue }, (oldestAgeMs ?? 0) / 1_000);
    }
    runs.reset();
    for (const [status, n] of Object.entries(observed.runs)) runs.set({ status }, n);
    started.set(observed.startedLastMinute);
    ended.set(observed.endedLastMinute);
    unserved.set(observed.unservedRuns);
    dead.set(observed.openDeadLetters);
    doubles.set(observed.doubleEffects);
    disagreements.set(observed.disagreements);
    canary.set(observed.canaryAgeS ?? NaN);
    look.set(observed.lastLookAgeS ?? NaN);
    late.set(observed.lateTimers);
  };
}
