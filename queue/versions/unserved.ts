import type { Stalled } from '../../core/contract.ts';
import { LIVE } from './presence.ts';

/**
 * SQL: workers run, but none that has the version of run `r`, which has something to do. A run that
 * waits for a person, a date or its order is not stuck yet. Where no worker runs at all, that is what is wrong.
 */
export const UNSERVED = `coalesce(
  r.status NOT IN ('ended', 'stuck')
  AND (coalesce(r.parked_for, 'none') NOT IN ('gate', 'date', 'child', 'operator') OR r.wake_seq > r.seen_seq)
  AND r.version <> ALL (
    (SELECT array_agg(v) FROM queue.worker w, unnest(w.versions) v WHERE ${LIVE})::text[]
  ), false)`;

/** SQL: since when nobody has the version of run `r`, or since the run came to where it is. */
export const UNSERVED_SINCE = `greatest(r.since, (
  SELECT max(coalesce(w.stopped_at, w.seen_at)) FROM queue.worker w
  WHERE r.version = ANY (w.versions)))`;

/** SQL: the status of run `r` as people are told it. */
export const TOLD_STATUS = `CASE WHEN ${UNSERVED} THEN 'stuck' ELSE r.status END`;

/** Why nobody goes on with a run of that version, and what helps. */
export function unservedSince(version: string, since: Date): Stalled {
  const reason = `no worker that runs has version ${version} of the pipeline: start one that has`;
  return { since: since.toISOString(), reason, version };
}
