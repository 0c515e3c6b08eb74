import type { Guard } from './guard.ts';

/** Without it an order's lines are all sent at once, and every line of every order goes through one queue. */
export const orderShare: Guard = {
  name: "an order's share of the hands",
  patches: [
    {
      file: 'queue/joins/start-join.ts',
      replace: 'await sendNext(tx, transport, { joinId, queue, count: width });',
      by: 'await sendNext(tx, transport, { joinId, queue, count: children.length });',
    },
    {
      file: 'queue/steps/price-here.ts',
      replace: 'export const LINES_PRICED_HERE = 8;',
      by: 'export const LINES_PRICED_HERE = 0;',
    },
  ],
};
