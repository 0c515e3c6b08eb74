import { chargeNeeded } from '../../core/decisions.ts';
import { businessKey, effectKey } from '../../core/identity.ts';
import { setTimer } from '../timers/set-timer.ts';
import { payableOf } from './payable.ts';
import type { StepCode, StepContext, StepResult, UndoCode } from './step.ts';

const DUE_TIMER = 'charge-date';

/** Charges the payable amount, on its date. */
export const charge: StepCode = async (context) => {
  const { id, run, partners, perform } = context;
  const waiting = await untilDue(context);
  if (waiting) return waiting;
  const amount = payableOf(run);
  if (!chargeNeeded(amount)) return { kind: 'done', detail: 'nothing to charge' };
  const key = effectKey(id, { revision: run.revision, step: 'charge' });
  const reference = businessKey(id);
  const performed = await perform({
    effectKey: key,
    step: 'charge',
    partner: 'payments',
    // The partner forgets keys after 24 hours and its statement never: a replay a week later asks that.
    ask: async (call) => (await partners.payments.findCharges({ reference, key }, call))[0],
    act: (call) => partners.payments.charge({ key, reference, amount }, call),
  });
  return { kind: 'done', detail: performed.outcome.chargeId, performed };
};

/** Undoes `charge`. Whether a charge may still land was settled before. */
export const refund: UndoCode = async ({ id, run, partners, perform }) => {
  const { revision } = run;
  const key = effectKey(id, { revision, step: 'refund' });
  const chargeKey = effectKey(id, { revision, step: 'charge' });
  const performed = await perform({
    effectKey: key,
    step: 'refund',
    partner: 'payments',
    settles: false,
    act: (call) => partners.payments.refund({ key, reference: businessKey(id), chargeKey }, call),
  });
  return { happened: performed.outcome.refundId !== null, performed };
};

/** The wait for the charge date, or undefined once it is due: the timer's row says so, however long it takes. */
async function untilDue({ run, input, db }: StepContext): Promise<StepResult | undefined> {
  const { chargeAt: until } = input;
  if (until === undefined) return undefined;
  const name = `${DUE_TIMER}/r${run.revision}`;
  const { rows } = await db.query<{ fired: boolean | null; passed: boolean }>(
    `SELECT $3::timestamptz <= statement_timestamp() AS passed,
       (SELECT fired_at IS NOT NULL FROM queue.timer WHERE run_id = $1 AND name = $2) AS fired`,
    [run.id, name, until],
  );
  const [row] = rows;
  if (!row || row.fired || (row.fired === null && row.passed)) return undefined;
  const first = row.fired === null;
  const since = run.waitingFor?.since ?? new Date().toISOString();
  return {
    kind: 'park',
    parkedFor: 'date',
    waitingFor: { kind: 'date', what: 'the charge is due', since, until },
    ...(first && {
      history: [{ type: 'waiting', step: 'charge', until }],
      write: (tx) => setTimer(tx, run.id, name, new Date(until)),
    }),
  };
}
