/**
 * What a terminal acts on instead of showing it: control characters (escape sequences can rewrite
 * what stands above), line and paragraph separators, and the marks that turn the reading direction
 * around. Order data, notes and partners' messages may carry any of them.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u{200e}\u{200f}\u{2028}-\u{202e}\u{2066}-\u{2069}]/gu;

/** `value` on one line and harmless on a terminal: what is unsafe is shown as `\u{1b}`. */
export function clean(value: unknown): string {
  return String(value).replace(
    UNSAFE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Template tag that cleans every value put in, so that no view can forget to. */
export function text(parts: TemplateStringsArray, ...values: unknown[]): string {
  return String.raw({ raw: parts }, ...values.map(clean));
}

/** `label   value` with the values of several rows under each other. */
export function row(label: string, value: string): string {
  return `  ${label.padEnd(10)}${value}`;
}
