/** What a receipt says: which message, and which delivery of it. Both are bigints, kept as text. */
export interface Receipt {
  id: string;
  delivery: string;
}

export function writeReceipt({ id, delivery }: Receipt): string {
  return `${id}.${delivery}`;
}

/** Null for text that no receive ever gave out; to the caller such a receipt is stale like any other. */
export function readReceipt(receipt: string): Receipt | null {
  const match = /^(\d{1,18})\.(\d{1,18})$/.exec(receipt);
  const [, id, delivery] = match ?? [];
  return id === undefined || delivery === undefined ? null : { id, delivery };
}
