import type pg from 'pg';

export const RUN = 'order/acme/PO-1';
/** For what happens side by side. */
export const RUNS = ['a', 'b', 'c'].map((ref) => `order/acme/${ref}`);

/** Moves the run one step on, in one transaction. */
export async function step(client: pg.Client, run = RUN): Promise<void> {
  await client.query('BEGIN');
  await client.query('UPDATE run SET step = step + 1 WHERE id = $1', [run]);
  await client.query('INSERT INTO history (run, what) VALUES ($1, $2)', [run, 'moved']);
  await client.query('COMMIT');
}

export async function stepOf(client: pg.Client, run = RUN): Promise<number | undefined> {
  const { rows } = await client.query<{ step: number }>('SELECT step FROM run WHERE id = $1', [
    run,
  ]);
  return rows[0]?.step;
}
