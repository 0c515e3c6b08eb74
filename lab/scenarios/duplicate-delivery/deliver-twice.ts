import pg from 'pg';

/**
 * Makes the queue one that delivers every message twice: whatever is sent is there a second time, under
 * an id of its own, due at the same moment. Returns how to end that.
 */
export async function deliverTwice(databaseUrl: string): Promise<() => Promise<void>> {
  await run(
    databaseUrl,
    `CREATE FUNCTION lab_send_again() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       INSERT INTO queue.message (queue, visible_at, sent_at, key, body)
       VALUES (NEW.queue, NEW.visible_at, NEW.sent_at, NEW.key, NEW.body);
       RETURN NULL;
     END $$`,
    // The copy is no second sending.
    `CREATE TRIGGER lab_twice AFTER INSERT ON queue.message FOR EACH ROW
     WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION lab_send_again()`,
  );
  return () => run(databaseUrl, 'DROP TRIGGER lab_twice ON queue.message');
}

async function run(databaseUrl: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
