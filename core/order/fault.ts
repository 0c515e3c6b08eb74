/** One thing that is wrong with an order as it came in. */
export interface Fault {
  /** Where: `lines[3].quantity`, or an XPath-like path into an XML document. Empty: the whole. */
  path: string;
  message: string;
  /** What to do about it. */
  hint: string;
}

/** More faults than these help nobody: the rest is counted in one last fault. */
export const MAX_FAULTS = 50;

/** The first MAX_FAULTS, and a last one that counts the rest. `complete` is false when the reader stopped looking. */
export function boundFaults(faults: readonly Fault[], complete = true): Fault[] {
  if (faults.length <= MAX_FAULTS) return [...faults];
  const rest = `${complete ? '' : 'at least '}${faults.length - MAX_FAULTS}`;
  const last = { path: '', message: `and ${rest} more faults`, hint: 'mend these first' };
  return [...faults.slice(0, MAX_FAULTS), last];
}

/** An order that can't be accepted, with every fault. Its message is for a log; show the faults to people. */
export class InvalidOrder extends Error {
  override readonly name = 'InvalidOrder';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => `${fault.path}: ${fault.message}`.replace(/^: /, '')).join('; '));
    this.faults = faults;
  }
}
