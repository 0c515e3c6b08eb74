/** What a receipt says: which message (a bigint, kept as text), and which delivery of it (a uuid). */
export interface Receipt {
  id: string;
  delivery: string;
}

export function writeReceipt({ id, delivery }: Receipt): string {
  return `${id}.${delivery}`;
}

/** Null for text that no receive ever gave out; to the caller such a receipt is stale like any other. */
export function readReceipt(receipt: string): Receipt | null {
  const match = /^(\d{1,18})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(receipt);
  const [, id, delivery] = match ?? [];
  return id === undefined || delivery === undefined ? null : { id, delivery };
}
