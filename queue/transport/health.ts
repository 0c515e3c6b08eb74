import type { Db } from './contract.ts';

export interface TransportHealth {
  /**
   * How many transactions the oldest snapshot is behind. Dead rows younger than that can't be
   * vacuumed, and every claim has to step over them.
   */
  oldestXminAge: number;
  /** Who holds that snapshot; null when nobody holds one. */
  heldBy: { what: string; sinceMs: number | null } | null;
  tables: { table: string; liveRows: number; deadRows: number; lastVacuum: Date | null }[];
  /** Share of the notification queue in use; at 1 every NOTIFY fails. */
  notifyQueueUsage: number;
}

/*
 * Sessions are not the only ones: a prepared transaction or a replication slot that was forgotten
 * holds the horizon just as well, and shows in no list of connections.
 */
const HORIZON = `
  SELECT what, age(xmin)::int AS "xminAge", "sinceMs" FROM (
    SELECT 'session ' || pid || ' (' || coalesce(nullif(application_name, ''), 'unnamed') || ', '
        || coalesce(state, backend_type) || ')' AS what, backend_xmin AS xmin,
      (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::float8 AS "sinceMs"
    FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
    UNION ALL
    SELECT 'prepared transaction ' || gid, transaction,
      (extract(epoch FROM clock_timestamp() - prepared) * 1000)::float8
    FROM pg_prepared_xacts
    UNION ALL
    SELECT 'replication slot ' || slot_name, xmin, NULL FROM pg_replication_slots
    WHERE xmin IS NOT NULL
  ) AS holders
  ORDER BY age(xmin) DESC LIMIT 1`;

const TABLES = `
  SELECT schemaname || '.' || relname AS "table", n_live_tup::int AS "liveRows",
    n_dead_tup::int AS "deadRows", greatest(last_vacuum, last_autovacuum) AS "lastVacuum"
  FROM pg_stat_user_tables WHERE schemaname = 'queue' ORDER BY relname`;

/**
 * What goes wrong with a queue in Postgres before anybody notices: an old snapshot that keeps dead
 * rows alive. Reads statistics only, which lag by about a second.
 */
export async function transportHealth(db: Db): Promise<TransportHealth> {
  const horizon = await db.query<{ what: string; xminAge: number; sinceMs: number | null }>(
    HORIZON,
  );
  const tables = await db.query<TransportHealth['tables'][number]>(TABLES);
  const usage = await db.query<{ usage: number }>('SELECT pg_notification_queue_usage() AS usage');
  const [oldest] = horizon.rows;
  return {
    oldestXminAge: oldest?.xminAge ?? 0,
    heldBy: oldest === undefined ? null : { what: oldest.what, sinceMs: oldest.sinceMs },
    tables: tables.rows,
    notifyQueueUsage: usage.rows[0]?.usage ?? 0,
  };
}
