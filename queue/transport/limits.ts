const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** What a transport allows, and how long it keeps things. All of it is data: a test or a team brings its own. */
export interface Limits {
  profile: string;
  maxDelayMs: number;
  /** Also the longest time a delivery may be held in total, extensions included. */
  maxVisibilityMs: number;
  maxWaitMs: number;
  maxInFlight: number;
  /** Of one body, as UTF-8 JSON, and of all bodies of one send together. */
  maxBodyBytes: number;
  maxSendBatch: number;
  maxReceiveBatch: number;
  /** How long a message is kept that nobody acks. Null: for ever. */
  retentionMs: number | null;
  /** How long a dead letter is kept, counted from when its message was first sent. Null: for ever. */
  deadRetentionMs: number | null;
}

/** Postgres simply schedules. The numbers only keep a slip of the pen (seconds for ms) out. */
export const POSTGRES: Limits = {
  profile: 'postgres',
  maxDelayMs: 3_660 * day,
  maxVisibilityMs: 7 * day,
  maxWaitMs: 1 * hour,
  maxInFlight: Number.MAX_SAFE_INTEGER,
  maxBodyBytes: 10_000_000,
  maxSendBatch: 10_000,
  maxReceiveBatch: 1_000,
  retentionMs: null,
  deadRetentionMs: null,
};

/**
 * What Amazon SQS sells. 256 KB is the historic cap of a body, since raised to 1 MiB: set
 * `maxBodyBytes` to 1_048_576 for the newer one.
 */
export const SQS: Limits = {
  profile: 'sqs',
  maxDelayMs: 900 * second,
  maxVisibilityMs: 12 * hour,
  maxWaitMs: 20 * second,
  maxInFlight: 120_000,
  maxBodyBytes: 262_144,
  maxSendBatch: 10,
  maxReceiveBatch: 10,
  retentionMs: 4 * day,
  deadRetentionMs: 14 * day,
};

const PROFILES = { postgres: POSTGRES, sqs: SQS } as const;
export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = ['postgres', 'sqs'] as const satisfies ProfileName[];

/** The longest retention SQS can be set to, and the shortest. */
const SQS_RETENTION_MS = { min: 1 * minute, max: 14 * day };

/** Something the profile does not allow. Nothing was written. */
export class LimitError extends RangeError {
  override readonly name = 'LimitError';
  /** Which input: `delayMs`, `body`, … */
  readonly field: string;
  constructor(field: string, problem: string, fix: string) {
    super(`${field} ${problem}: ${fix}`);
    this.field = field;
  }
}

/**
 * The limits of a named profile, with changes. Throws a LimitError for a retention that SQS would
 * refuse, or one that lets dead letters go before the messages they came from.
 */
export function limitsOf(profile: ProfileName, changes: Partial<Limits> = {}): Limits {
  const limits: Limits = { ...PROFILES[profile], ...changes };
  const { retentionMs, deadRetentionMs } = limits;
  for (const [field, value] of Object.entries({ retentionMs, deadRetentionMs })) {
    const { min, max } = SQS_RETENTION_MS;
    if (profile === 'sqs' && (value === null || !(value >= min && value <= max))) {
      throw new LimitError(field, `is ${value}`, `sqs keeps messages between ${min} and ${max} ms`);
    }
  }
  if (deadRetentionMs !== null && (retentionMs === null || retentionMs > deadRetentionMs)) {
    throw new LimitError(
      'deadRetentionMs',
      `is ${deadRetentionMs}, shorter than retentionMs (${retentionMs ?? 'for ever'})`,
      'a dead letter ages from its first send, so it would be gone before anybody looks',
    );
  }
  return limits;
}

export function checkQueue(queue: string): void {
  if (!/^[a-z][a-z0-9_-]{0,79}$/.test(queue)) {
    throw new LimitError(
      'queue',
      `is ${JSON.stringify(queue)}`,
      'use 1 to 80 of a-z, 0-9, - and _, a letter first',
    );
  }
}

/** Finite, whole and between `min` and `max`: NaN or Infinity would be an endless zero-wait loop. */
function checkNumber(field: string, value: number, min: number, max: number, fix: string): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new LimitError(field, `is ${value}, not a whole number from ${min} to ${max}`, fix);
  }
}

export function checkDelay(limits: Limits, delayMs: number): void {
  const fix = `the ${limits.profile} profile delays no longer; a longer wait belongs in a timer`;
  checkNumber('delayMs', delayMs, 0, limits.maxDelayMs, fix);
}

export function checkVisibility(limits: Limits, visibilityMs: number): void {
  const fix = `the ${limits.profile} profile hides no longer; extend it while the work goes on`;
  checkNumber('visibilityMs', visibilityMs, 0, limits.maxVisibilityMs, fix);
}

export function checkReceive(limits: Limits, max: number, waitMs: number): void {
  checkNumber('max', max, 1, limits.maxReceiveBatch, 'receive again for more');
  checkNumber('waitMs', waitMs, 0, limits.maxWaitMs, 'receive again to wait longer');
}

/** Message ids as an operator types them: one that can't be an id is refused by name. */
export function checkMessageIds(field: string, ids: string[]): void {
  const wrong = ids.find((id) => !/^\d{1,18}$/.test(id));
  if (wrong !== undefined) {
    throw new LimitError(field, `has ${JSON.stringify(wrong)}`, 'a message id is a number');
  }
}

export function checkPage(limit: number, after: string): void {
  checkNumber('limit', limit, 1, 1_000, 'ask for the next page with after');
  checkMessageIds('after', [after]);
}

export function checkKey(key: string): void {
  // Postgres text has no NUL; 400 bytes leave a key indexable wherever it is stored later.
  if (key === '' || key.includes('\0') || Buffer.byteLength(key) > 400) {
    throw new LimitError('key', 'is empty, has a NUL or more than 400 bytes', 'use a business id');
  }
}

/** The bodies as JSON text. */
export function checkBodies(limits: Limits, bodies: unknown[]): string[] {
  if (bodies.length > limits.maxSendBatch) {
    const problem = `are ${bodies.length}, more than ${limits.maxSendBatch}`;
    throw new LimitError('messages', problem, 'send them in several batches');
  }
  let total = 0;
  return bodies.map((body, index) => {
    // The type says string, but undefined and functions give undefined.
    const text: string | undefined = JSON.stringify(body);
    if (text === undefined) {
      throw new LimitError(`messages[${index}].body`, 'is not JSON', 'send an object');
    }
    total += Buffer.byteLength(text);
    if (total > limits.maxBodyBytes) {
      const problem = `brings the send to ${total} bytes, more than ${limits.maxBodyBytes}`;
      throw new LimitError(`messages[${index}].body`, problem, 'store it and send a reference');
    }
    return text;
  });
}
