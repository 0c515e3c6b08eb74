import type { ClientBase } from 'pg';
import { StepFailure } from '../../core/failures.ts';
import type { Policy } from '../../core/policy.ts';
import type { Call } from '../../partners/contract.ts';
import { waitForPartner } from '../limits/partner-limit.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { LeaseLost } from '../runs/fence.ts';
import { renewIntent, writeIntent } from './records.ts';
import type { Claimant, LedgerKey } from './records.ts';

/** Who performs an effect: the holder of a run, or of one child of it. */
export interface Performer extends Claimant {
  leaseMs: number;
  /**
   * The transaction of the intent: begins with the performer's fence and commits, before anything is
   * sent, all that came before. Throws LeaseLost.
   */
  begin<T>(work: (tx: ClientBase) => Promise<T>): Promise<T>;
  /** Any other transaction of the performer; throws LeaseLost. */
  fenced<T>(work: (tx: ClientBase) => Promise<T>): Promise<T>;
  policy: Policy;
  metrics: Metrics;
  /** Aborts when the lease is lost. */
  signal: AbortSignal;
}

export interface Effect<Outcome> extends LedgerKey {
  /** What an earlier request under this key led to, or undefined. For partners whose own keys always suffice: absent. */
  ask?: (call: Call) => Promise<Outcome | undefined>;
  act: (call: Call) => Promise<Outcome>;
  /**
   * False where the partner's own key makes a late request and ours one effect, so that there is
   * nothing to wait for. Default true.
   */
  settles?: boolean;
  /** Default: the policy's for partners. */
  timeoutMs?: number;
  /**
   * Looks, before anything is committed or sent, at how many requests under this key are out already,
   * for a partner that can't be asked. What it throws leaves the intent unwritten.
   */
  mayAct?: (earlier: number) => void;
}

/** An effect that has happened; its outcome is written into the ledger with the step's own result. */
export interface Performed<Outcome> {
  effectKey: string;
  outcome: Outcome;
}

/** Not now, and at no cost: a partner asked everybody to wait, or an earlier request may still land. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
  readonly delayMs: number;
  constructor(delayMs: number, why: string) {
    super(why);
    this.delayMs = delayMs;
  }
}

/** What is known about the request when an effect fails: whether it was sent at all. */
export class EffectFailure extends Error {
  override readonly name = 'EffectFailure';
  readonly failure: StepFailure;
  readonly effect: LedgerKey;
  readonly acted: boolean;
  constructor(effect: LedgerKey, acted: boolean, failure: StepFailure) {
    super(failure.message, { cause: failure });
    this.effect = effect;
    this.acted = acted;
    this.failure = failure;
  }
}

/**
 * Intent, ask, act, outcome. A crash between act and outcome leaves the intent: the next attempt waits
 * until the dead worker's request must have landed, asks the partner, and acts only when it had not.
 * Throws NotYet, EffectFailure or LeaseLost.
 */
export async function perform<Outcome>(
  performer: Performer,
  effect: Effect<Outcome>,
): Promise<Performed<Outcome>> {
  const { effectKey, partner } = effect;
  const { policy } = performer;
  let began = performance.now();
  const intent = await performer.begin(async (tx) => {
    const pauseMs = await waitForPartner(tx, partner);
    if (pauseMs > 0) throw new NotYet(pauseMs, `${partner} asked everybody to wait`);
    const written = await writeIntent(tx, effect, performer);
    if (written.kind !== 'done') effect.mayAct?.(written.sends - 1);
    return written;
  });
  if (intent.kind === 'done') {
    performer.metrics.effectsPrevented.inc({ partner });
    // What the same code wrote under the same key.
    return { effectKey, outcome: intent.outcome as Outcome };
  }
  if (intent.kind === 'unsure') {
    const landed = intent.unsureSince.getTime() + policy.settleMs;
    const waitMs = effect.settles === false ? 0 : landed - intent.now.getTime();
    // The intent keeps its time, so that coming back later does not start the wait again.
    if (waitMs > 0) throw new NotYet(waitMs, 'an earlier request may still land');
    const earlier = await partnerCall(effect, false, () => effect.ask?.(callOf(performer)));
    if (earlier !== undefined) {
      performer.metrics.effectsPrevented.inc({ partner });
      return { effectKey, outcome: earlier };
    }
    began = performance.now();
    await performer.fenced((tx) => renewIntent(tx, effectKey));
  }
  // A process that was stopped between its intent and here must not act on a lease of long ago.
  if (performance.now() - began > performer.leaseMs)
    throw new LeaseLost(effectKey, performer.token);
  const outcome = await partnerCall(effect, true, () =>
    effect.act({ timeoutMs: effect.timeoutMs ?? policy.partnerTimeoutMs }),
  );
  return { effectKey, outcome };
}

function callOf({ policy, signal }: Performer): Call {
  return { timeoutMs: policy.partnerTimeoutMs, signal };
}

async function partnerCall<T>(
  effect: LedgerKey,
  acted: boolean,
  call: () => Promise<T> | undefined,
): Promise<T | undefined>;
async function partnerCall<T>(effect: LedgerKey, acted: true, call: () => Promise<T>): Promise<T>;
async function partnerCall<T>(
  effect: LedgerKey,
  acted: boolean,
  call: () => Promise<T> | undefined,
): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    throw new EffectFailure(effect, acted, error);
  }
}
