import type { Guard } from './guard.ts';

/**
 * Where a team without a timers table puts a wait: into the process. What it ends with is the same row,
 * so that only the waiting differs.
 */
export const timersTable: Guard = {
  name: 'the timers table',
  patches: [
    {
      file: 'queue/steps/charge.ts',
      replace: 'write: (tx) => setTimer(tx, run.id, name, new Date(until)),',
      by: `write: async () => {
        setTimeout(
          () => void db.query(
            'INSERT INTO queue.timer (run_id, name, due_at) VALUES ($1, $2, statement_timestamp())',
            [run.id, name],
          ),
          Date.parse(until) - Date.now(),
        );
      },`,
    },
  ],
};
