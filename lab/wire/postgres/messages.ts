/** One protocol message, or the further bytes of a long one. `bytes` in sequence are the stream as it was. */
export interface Piece {
  /** The message's type byte as a letter; empty for the further bytes of a long message. */
  type: string;
  /** The payload, at most `KEEP` bytes of it. */
  body: Buffer;
  bytes: Buffer;
}

/** Longest part of a message that is looked at, in bytes; the rest passes without being kept. */
const KEEP = 256 * 1024;
const EMPTY = Buffer.alloc(0);

/** Splits a stream after startup into messages, holding back at most `KEEP` bytes. */
export class Splitter {
  #begun: Buffer = EMPTY;
  #rest = 0;

  /** Throws RangeError when the stream is no protocol 3 stream. */
  *push(chunk: Buffer): Generator<Piece> {
    let data = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    this.#begun = EMPTY;
    while (data.length > 0) {
      let passed: number;
      if (this.#rest > 0) {
        passed = Math.min(this.#rest, data.length);
        this.#rest -= passed;
        yield { type: '', body: EMPTY, bytes: data.subarray(0, passed) };
      } else {
        if (data.length < 5) break;
        const length = data.readInt32BE(1);
        if (length < 4)
          throw new RangeError(`a message of length ${length}: not Postgres protocol 3`);
        passed = Math.min(length + 1, KEEP);
        if (data.length < passed) break;
        this.#rest = length + 1 - passed;
        yield {
          type: String.fromCharCode(data.readUInt8(0)),
          body: data.subarray(5, passed),
          bytes: data.subarray(0, passed),
        };
      }
      data = data.subarray(passed);
    }
    this.#begun = data;
  }
}

/** Reads a payload; past its end (a long message is cut) everything is empty. */
class Reader {
  #at = 0;
  readonly #body: Buffer;

  constructor(body: Buffer) {
    this.#body = body;
  }

  get left(): number {
    return this.#body.length - this.#at;
  }

  text(): string {
    const zero = this.#body.indexOf(0, this.#at);
    const end = zero === -1 ? this.#body.length : zero;
    const text = this.#body.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  int16(): number {
    const value = this.left < 2 ? 0 : this.#body.readInt16BE(this.#at);
    this.#at += 2;
    return value;
  }

  /** A value with its length in front; null for SQL's NULL. */
  value(): Buffer | null {
    const length = this.left < 4 ? 0 : this.#body.readInt32BE(this.#at);
    this.#at += 4;
    if (length < 0) return null;
    const value = this.#body.subarray(this.#at, this.#at + length);
    this.#at += length;
    return value;
  }
}

/** Parse: a statement gets a name (empty: only until the next). */
export function readParse(body: Buffer): { name: string; text: string } {
  const reader = new Reader(body);
  return { name: reader.text(), text: reader.text() };
}

/** Bind: a statement gets its parameters. Binary ones are null, as is SQL's NULL. */
export function readBind(body: Buffer): {
  portal: string;
  statement: string;
  params: (string | null)[];
} {
  const reader = new Reader(body);
  const portal = reader.text();
  const statement = reader.text();
  const formats = times(reader.int16(), () => reader.int16());
  const params = times(reader.int16(), (index) => {
    const format = formats.length === 1 ? formats[0] : formats[index];
    const value = reader.left > 0 ? reader.value() : null;
    return value === null || format === 1 ? null : value.toString('utf8');
  });
  return { portal, statement, params };
}

/** DataRow: the values of a row, as text. */
export function readRow(body: Buffer): string[] {
  const reader = new Reader(body);
  const values = times(reader.int16(), () => (reader.left > 0 ? reader.value() : null));
  return values.flatMap((value) => (value === null ? [] : [value.toString('utf8')]));
}

/** The text a message starts with, up to its zero byte. */
export function readText(body: Buffer): string {
  return new Reader(body).text();
}

/** Close: `S` a statement, `P` a portal, and its name. */
export function readClose(body: Buffer): { kind: string; name: string } {
  return { kind: body.toString('latin1', 0, 1), name: readText(body.subarray(1)) };
}

function times<T>(count: number, read: (index: number) => T): T[] {
  return Array.from({ length: Math.max(0, count) }, (_, index) => read(index));
}
