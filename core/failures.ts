/**
 * What a failure means for the next attempt. Decided where the failure is born, by class, never by
 * matching a message later.
 * - `refused`: the partner understood and said no (declined card). A business outcome: the run ends with a reason.
 * - `never`: the request itself is wrong (400, a key reused with another amount). Retrying can't help: an operator's case.
 * - `missing`: the row is not there yet (404 on something we just made). Short delay, small budget.
 * - `busy`: the partner did not act (429, 503, connection refused). Back off, honour Retry-After.
 * - `unknown`: the request may or may not have been acted on (timeout, dropped connection, 500). Ask before acting again.
 */
export const FAILURE_CLASSES = ['refused', 'never', 'missing', 'busy', 'unknown'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** A failure that knows its class. Clients of partners throw nothing else. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
  readonly failureClass: FailureClass;
  /** A stable word for programs and tables: `card-declined`, `key-reused`, `timeout`. */
  readonly code: string;
  /** How long the partner asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    failureClass: FailureClass,
    code: string,
    message: string,
    options: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failureClass = failureClass;
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** True for the classes that no further attempt can cure. */
export function isFinal(failureClass: FailureClass): boolean {
  return failureClass === 'refused' || failureClass === 'never';
}
