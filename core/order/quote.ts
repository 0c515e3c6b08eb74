/**
 * Foreign text for a message: bounded, so that a message stays a line, and with everything escaped
 * that could move a terminal's cursor or turn its writing direction.
 */
export function quote(text: string): string {
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return JSON.stringify(short).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, escaped);
}

/** A field's name as a path shows it: plain where it is plain, quoted otherwise. */
export function quoteKey(key: string): string {
  return /^[\w$-]{1,40}$/.test(key) ? key : quote(key);
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
