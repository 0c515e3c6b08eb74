/**
 * Names content in the claim-check store: `sha256-` and 64 hex digits. What outgrows a message or a
 * history is kept there, and only its name travels.
 */
export type Ref = `sha256-${string}`;

export function isRef(text: string): text is Ref {
  return /^sha256-[0-9a-f]{64}$/.test(text);
}

/** Something in the store, and since when: storing it again makes it new. */
export interface Stored {
  ref: Ref;
  bytes: number;
  storedAt: Date;
}

/**
 * Content by its hash: the same bytes have the same name, so storing is idempotent, and a retry after a
 * crash leaves nothing behind but what nobody names yet. Outside every transaction; see `collect`.
 */
export interface ClaimCheckStore {
  /** Returns when the content will survive this process. Throws RangeError when it is too large. */
  put(content: Uint8Array): Promise<Ref>;
  /** The content, checked against its name. Throws NotInStore. */
  get(ref: Ref): Promise<Uint8Array>;
  /** Everything that was last stored before `before`, in no order. */
  storedBefore(before: Date): AsyncIterable<Stored>;
  /**
   * Takes content away, unless it was stored again since `before`. Returns whether it did. What is not
   * there is no error.
   */
  remove(ref: Ref, before: Date): Promise<boolean>;
}

/** Nothing under that name, or something else: lost, or collected while it was still needed. */
export class NotInStore extends Error {
  override readonly name = 'NotInStore';
  readonly ref: Ref;
  constructor(ref: Ref, why: string) {
    super(`${ref}: ${why}`);
    this.ref = ref;
  }
}
