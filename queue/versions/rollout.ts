import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import type { Rollout, RolloutResult } from '../../core/versions.ts';
import { withTransaction } from '../database.ts';
import type { Db } from '../transport/contract.ts';
import type { RunKind } from '../runs/run.ts';
import { CODES_OWN, kindOfVersion } from './names.ts';
import { LIVE } from './presence.ts';

/** Each kind of run has a rollout of its own: one row, or none. */
const TABLES = { order: 'queue.rollout', agent: 'queue.agent_rollout' } as const;

/** SQL: the version that a new order begins with. The parameter is `bucketOf` its id. */
export const versionOfNewRun = (bucket: string): string => `coalesce(
  (SELECT CASE WHEN ${bucket}::int < ramping_percent THEN ramping_version ELSE current_version END
   FROM ${TABLES.order}), '${CODES_OWN.order}')`;

/** 0 to 99, the same for a run at every time: an order that a ramp leaves out stays out when it is sent again. */
export function bucketOf(runId: string): number {
  return createHash('sha256').update(runId).digest().readUInt32BE() % 100;
}

export async function readRollout(db: Db, kind: RunKind): Promise<Rollout> {
  const { rows } = await db.query<{ current: string; version: string | null; percent: number }>(
    `SELECT current_version AS current, ramping_version AS version, ramping_percent AS percent
     FROM ${TABLES[kind]}`,
  );
  const [row] = rows;
  if (!row) return { current: CODES_OWN[kind] };
  const { current, version, percent } = row;
  return version === null ? { current } : { current, ramping: { version, percent } };
}

/** All new runs of its kind begin on `version`. A ramp to another one goes on; one to this is over. */
export function setCurrent(pool: Pool, version: string, by: string): Promise<RolloutResult> {
  return changing(pool, version, async (tx, { ramping }) => {
    await tx.query(
      `UPDATE ${tableOf(version)} SET current_version = $1,
         ramping_version = nullif(ramping_version, $1),
         ramping_percent = CASE WHEN ramping_version = $1 THEN 0 ELSE ramping_percent END`,
      [version],
    );
    await noteChange(tx, { by, action: 'set-current', version });
    const goesOn = ramping && ramping.version !== version;
    return { kind: 'changed', current: version, ...(goesOn && { ramping }) };
  });
}

/** `percent` of a hundred new runs begin on `version`; 0 ends its ramp. */
export function ramp(
  pool: Pool,
  version: string,
  percent: number,
  by: string,
): Promise<RolloutResult> {
  return changing(
    pool,
    version,
    async (tx, { current, ramping }) => {
      if (version === current) return { kind: 'conflict', reason: `${version} is current already` };
      if (percent === 0 && ramping?.version !== version) {
        return { kind: 'conflict', reason: `${version} is not ramping` };
      }
      await tx.query(
        `UPDATE ${tableOf(version)}
       SET ramping_version = CASE WHEN $2 > 0 THEN $1 END, ramping_percent = $2`,
        [version, percent],
      );
      await noteChange(tx, { by, action: 'ramp', version, percent });
      return { kind: 'changed', current, ...(percent > 0 && { ramping: { version, percent } }) };
    },
    percent === 0,
  );
}

function tableOf(version: string): string {
  return TABLES[kindOfVersion(version)];
}

/** One change at a time, by what holds at that moment. Refused when no worker could take up the new runs. */
function changing(
  pool: Pool,
  version: string,
  work: (tx: ClientBase, now: Rollout) => Promise<RolloutResult>,
  ends = false,
): Promise<RolloutResult> {
  return withTransaction(pool, async (tx) => {
    const kind = kindOfVersion(version);
    await tx.query(
      `INSERT INTO ${TABLES[kind]} (current_version) VALUES ($1) ON CONFLICT DO NOTHING`,
      [CODES_OWN[kind]],
    );
    await tx.query(`SELECT FROM ${TABLES[kind]} FOR UPDATE`);
    if (!ends && !(await isServed(tx, version))) return unserved(version);
    return work(tx, await readRollout(tx, kind));
  });
}

/** Whether a worker that runs has this version. */
export async function isServed(db: Db, version: string): Promise<boolean> {
  const { rows } = await db.query<{ served: boolean }>(
    `SELECT EXISTS (SELECT FROM queue.worker w WHERE $1 = ANY (versions) AND ${LIVE}) AS served`,
    [version],
  );
  return rows[0]?.served === true;
}

export function unserved(version: string): { kind: 'conflict'; reason: string } {
  const reason = `no worker that runs has version ${version}: start one that has, then repeat this`;
  return { kind: 'conflict', reason };
}

interface Noted {
  by: string;
  action: 'set-current' | 'ramp' | 'move';
  version: string;
  percent?: number;
  runId?: string;
  from?: string;
}

export async function noteChange(tx: ClientBase, noted: Noted): Promise<void> {
  const { by, action, version, percent, runId, from } = noted;
  await tx.query(
    `INSERT INTO queue.version_change (by, action, version, percent, run_id, from_version)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [by, action, version, percent ?? null, runId ?? null, from ?? null],
  );
}
