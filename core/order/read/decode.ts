import type { Fault } from '../fault.ts';
import { quote } from '../quote.ts';

export type Decoded = { ok: true; text: string } | { ok: false; fault: Fault };

/**
 * Bytes as text, without a byte order mark: UTF-8, or UTF-16 with its mark (which Windows tools
 * write). Everything else is refused rather than guessed: a wrong guess shows up as a wrong name on
 * an invoice.
 */
export function decode(bytes: Uint8Array): Decoded {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) {
    return refuse('is UTF-16 or UTF-32 without a byte order mark', 'save it as UTF-8');
  }
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return refuse(`has bytes that are not ${encoding.toUpperCase()}`, 'save it as UTF-8');
  }
  const declared = /^<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']/.exec(text)?.[1];
  if (declared === undefined || agrees(declared, encoding)) return { ok: true, text };
  return refuse(
    `says its encoding is ${quote(declared)}, and is read as ${encoding.toUpperCase()}`,
    'save it as UTF-8 and say encoding="UTF-8"',
  );
}

function encodingOf(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  // An order starts with an ASCII character, so a zero byte this early means two bytes a character or four.
  return first === 0 || second === 0 ? undefined : 'utf-8';
}

function agrees(declared: string, encoding: string): boolean {
  const name = declared.toLowerCase();
  // ASCII is a part of UTF-8.
  return encoding === 'utf-8'
    ? ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(name)
    : [encoding, 'utf-16'].includes(name);
}

function refuse(message: string, hint: string): Decoded {
  return { ok: false, fault: { path: '', message, hint } };
}
