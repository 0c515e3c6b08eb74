/** Foreign text for a message, in quotes. Bounded, so that a message stays a line. */
export function quote(text: string): string {
  return `"${plain(text.replaceAll('"', "'"), 40)}"`;
}

/** Foreign text without what could move a terminal's cursor or turn its writing direction: shown as code points. */
export function plain(text: string, max: number): string {
  const short = text.length > max ? `${text.slice(0, max)}…` : text;
  return short.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, codePoint);
}

/** `U+202E` */
export function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A field's name as a path shows it: plain where it is plain, quoted otherwise. */
export function quoteKey(key: string): string {
  return /^[\w$-]{1,40}$/.test(key) ? key : quote(key);
}
