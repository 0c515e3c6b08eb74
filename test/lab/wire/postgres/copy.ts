import type pg from 'pg';

/** COPY … FROM STDIN with pg alone: it speaks the protocol but has no call for it. */
export function copyIn(client: pg.Client, text: string, rows: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit(connection: pg.Connection) {
        connection.query(text);
      },
      handleCopyInResponse(connection: {
        sendCopyFromChunk(chunk: Buffer): void;
        endCopyFrom(): void;
      }) {
        connection.sendCopyFromChunk(Buffer.from(rows));
        connection.endCopyFrom();
      },
      handleCommandComplete() {},
      handleReadyForQuery: resolve,
      handleError: reject,
    } as pg.Submittable); // pg calls more handlers than its types know.
  });
}
