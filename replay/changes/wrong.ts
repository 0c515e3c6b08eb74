import type { Change } from './change.ts';

/** A change that runs in flight can't take. */
export interface WrongChange extends Change {
  /** A recorded path that meets it, and what the gate says of it after the event's number. */
  path: string;
  says: { history: string; code: string };
}

const ORDER = 'workflows/purchase-order.ts';
const STEPS = 'workflows/steps.ts';
const APPROVE = '  await approve(run);\n';
const CHARGE = '  await charge(run);\n';

/** Each must fail the gate: one that passes means that the gate sees nothing. */
export const wrongChanges: readonly WrongChange[] = [
  {
    name: 'two steps in another order',
    edits: [
      { file: ORDER, from: APPROVE, to: '' },
      {
        file: ORDER,
        from: CHARGE,
        to: `${CHARGE}${APPROVE}`,
      },
    ],
    path: 'plain',
    says: {
      history: 'sets OrderStatus=running, OrderStep=charge',
      code: 'schedules activity "charge"',
    },
  },
  {
    name: 'another activity in the place of one',
    edits: [
      {
        file: STEPS,
        from: 'return partnersOf(run).warehouse.reserve({ ...callOf(run, again), lines });',
        to: 'return partnersOf(run).warehouse.release(callOf(run, again)).then(() => String(lines));',
      },
    ],
    path: 'plain',
    says: { history: 'schedules activity "reserve"', code: 'schedules activity "release"' },
  },
  {
    name: 'an activity removed',
    edits: [
      {
        file: STEPS,
        from: 'return partnersOf(run).mailer.invoice({ ...callOf(run, again), amount, amountText, to });',
        to: 'return `${to}${again}`;',
      },
    ],
    path: 'plain',
    says: { history: 'schedules activity "invoice"', code: 'sets search attributes' },
  },
  {
    name: 'an activity added',
    edits: [
      {
        file: STEPS,
        from: "    await step(run, 'close', async () => amountText);",
        to: "    await step(run, 'close', async () => partnersOf(run).payments.refund(callOf(run, false)).then(String));",
      },
    ],
    path: 'plain',
    says: {
      history: 'sets OrderOutcome=completed, OrderStatus=ended, OrderStep=close',
      code: 'schedules activity "refund"',
    },
  },
  {
    name: 'a timer removed',
    edits: [{ file: STEPS, from: '  await sleep(wait);\n', to: '' }],
    path: 'charged-later',
    says: { history: 'starts a timer', code: 'sets search attributes' },
  },
  {
    name: 'a timer added',
    edits: [
      {
        file: STEPS,
        from: '  await untilDue(run, run.input.chargeAt);\n',
        to: "  await sleep('1 minute');\n",
      },
    ],
    path: 'plain',
    says: { history: 'sets OrderStatus=running, OrderStep=charge', code: 'starts a timer' },
  },
  {
    name: "a child's id changed",
    edits: [{ file: 'workflows/price.ts', from: '/lines/${n}`', to: '/prices/${n}`' }],
    path: '251-lines',
    says: { history: 'starts child "order/acme/PO-251-lines/lines/0"', code: 'gives it the id' },
  },
  {
    name: "a child's id left to the SDK",
    edits: [
      {
        file: 'workflows/price.ts',
        from: '      workflowId: `${workflowInfo().workflowId}/lines/${n}`,\n',
        to: '',
      },
    ],
    path: '251-lines',
    says: { history: 'starts child "order/acme/PO-251-lines/lines/0"', code: 'gives it the id' },
  },
  {
    name: 'a transition no longer shown',
    edits: [
      {
        file: 'workflows/position.ts',
        from: '  upsertSearchAttributes(positionAttributes(run.position));\n',
        to: '',
      },
    ],
    path: 'plain',
    says: { history: 'sets OrderStatus=running, OrderStep=validate', code: 'changes its memo' },
  },
  {
    name: 'an error thrown',
    edits: [
      {
        file: STEPS,
        from: '  const amountText = formatMoney(amount);\n',
        to: "  const amountText = formatMoney(amount);\n  if (amountText) throw new Error('not like this');\n",
      },
    ],
    path: 'plain',
    says: {
      history: 'completes a workflow task',
      code: 'throws: not like this (workflows/steps.ts',
    },
  },
];
