import { cpus, loadavg, totalmem } from 'node:os';
import pg from 'pg';

export interface Machine {
  measuredAt: string;
  cpu: string;
  cores: number;
  memoryGb: number;
  /** Of the last minute, before the first measurement: well above zero means that others were at work. */
  loadAtStart: number;
  node: string;
  postgres: string;
  settings: Record<string, string>;
}

const SETTINGS = [
  'synchronous_commit',
  'fsync',
  'full_page_writes',
  'wal_level',
  'shared_buffers',
  'max_wal_size',
  'autovacuum',
];

/** What the numbers depend on: the machine, and the settings of the Postgres at `url`. */
export async function describeMachine(url: string): Promise<Machine> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; value: string }>(
      'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
      [['server_version', ...SETTINGS]],
    );
    const { server_version: postgres = '', ...settings } = Object.fromEntries(
      rows.map((row) => [row.name, row.value]),
    );
    return {
      measuredAt: new Date().toISOString(),
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      loadAtStart: loadavg()[0] ?? NaN,
      node: process.version,
      postgres,
      settings,
    };
  } finally {
    await client.end();
  }
}

/** The same as two lines of a list. */
export function describe(machine: Machine): string {
  const settings = Object.entries(machine.settings).map(([name, value]) => `${name} ${value}`);
  return [
    `- ${machine.measuredAt}, ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, load ${machine.loadAtStart.toFixed(1)} before the start`,
    `- Node ${machine.node}, Postgres ${machine.postgres} on the same machine: ${settings.join(', ')}`,
  ].join('\n');
}
