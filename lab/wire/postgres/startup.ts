/** What a connection's first, untyped message asks for. */
export type Startup =
  | { kind: 'incomplete' }
  /** TLS or GSS: refused with `N`, since the proxy has to read what passes. */
  | { kind: 'encryption'; length: number }
  | { kind: 'cancel' }
  | { kind: 'session'; application: string };

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;
/** Postgres' own limit of a startup message, in bytes. */
const MAX_STARTUP = 10_000;

/** Reads the start of a connection. Throws RangeError when it is no protocol 3 client in the clear. */
export function readStartup(data: Buffer): Startup {
  if (data.length < 8) return { kind: 'incomplete' };
  const length = data.readInt32BE(0);
  const code = data.readInt32BE(4);
  if (length < 8 || length > MAX_STARTUP || (code >>> 16 !== 3 && code >>> 16 !== 1234))
    throw new RangeError('not a Postgres protocol 3 client in the clear');
  if (data.length < length) return { kind: 'incomplete' };
  if (code === SSL_REQUEST || code === GSS_REQUEST) return { kind: 'encryption', length };
  if (code === CANCEL_REQUEST) return { kind: 'cancel' };
  const words = data.toString('utf8', 8, length).split('\0');
  const at = words.findIndex((word, index) => index % 2 === 0 && word === 'application_name');
  return { kind: 'session', application: (at === -1 ? undefined : words[at + 1]) ?? '' };
}
