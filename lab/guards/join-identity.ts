import type { Guard } from './guard.ts';

/**
 * The join as it is built first: a counter that every delivery of a child moves, whichever child it was
 * and however often it came.
 */
export const joinIdentity: Guard = {
  name: 'the identity of the children in a join',
  patches: [
    {
      file: 'queue/joins/take-child.ts',
      replace: `AND c.state = 'sent'
        AND (c.lease_until IS NULL OR c.lease_until <= statement_timestamp())`,
      by: '',
    },
    {
      file: 'queue/joins/take-child.ts',
      replace: 'AND ($6 OR (c.lost_workers = 0 AND c.lease_until IS NULL))',
      by: 'AND $6::boolean IS NOT NULL',
    },
    {
      file: 'queue/joins/fence-child.ts',
      replace: 'AND token = $3 AND lease_until IS NOT NULL',
      by: 'AND $3::bigint IS NOT NULL',
    },
    {
      file: 'queue/joins/finish-child.ts',
      replace: `AND token = $3 AND state = 'sent'
        AND lease_until IS NOT NULL`,
      by: 'AND $3::bigint IS NOT NULL',
    },
    {
      file: 'queue/joins/finish-child.ts',
      replace: `CASE WHEN NOT EXISTS (
          SELECT FROM queue.join_child WHERE join_id = $1 AND state <> 'done'
        ) THEN`,
      by: 'CASE WHEN done + 1 >= total THEN',
    },
  ],
};
