/** What a shell script may rely on. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  badInput: 2,
  notFound: 3,
  conflict: 4,
  notConfirmed: 5,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const WORST_FIRST: readonly ExitCode[] = [
  EXIT.unexpected,
  EXIT.badInput,
  EXIT.notConfirmed,
  EXIT.conflict,
  EXIT.notFound,
  EXIT.done,
];

/** The code of a command that did several things: that of the worst of them, `done` of none. */
export function worstOf(codes: readonly ExitCode[]): ExitCode {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.done;
}
