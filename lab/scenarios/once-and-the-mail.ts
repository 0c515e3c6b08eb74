import { askBeforeAct, ledger } from '../guards/ledger.ts';
import type { Scenario } from '../scenario.ts';
import { handlerAsWritten } from './once-and-the-mail/as-written.ts';
import { ordersKilledAt } from './once-and-the-mail/orders.ts';

export const onceAndTheMail: Scenario = {
  name: 'once-and-the-mail',
  claim: 'an invoice that is issued once is mailed once, wherever its worker dies',
  about:
    'a marker written in one transaction with the business row makes the row happen once; a mail is in ' +
    'no transaction, so somebody has to remember that it is still to be sent, and ask whether it was',
  fault:
    'SIGKILL before the commit of the invoice, after that commit, and after the mailer has sent the ' +
    "mail and not answered. In the chain's place stands the reading's handler as it is, with the mail " +
    'in the transaction, and once more with the mail after the commit',
  counts: 'mails the mailer sent, for each point',
  code: {
    chain: ['lab/scenarios/once-and-the-mail/handler.ts'],
    queue: ['queue/steps/invoice.ts', 'queue/steps/send-mail.ts', 'queue/ledger/effect.ts'],
    temporal: ['activities/invoice.ts', 'activities/invoices.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'mailed twice or never mailed' },
    queue: { verdict: 'held' },
    temporal: { verdict: 'held' },
  },
  limitMs: { small: 180_000 },
  seconds: 15,
  run: (stage) =>
    stage.implementation === 'chain'
      ? handlerAsWritten(stage)
      : ordersKilledAt(stage, stage.implementation),
  controls: [
    {
      on: 'queue',
      without: ledger,
      breaks: 'mailed twice',
      run: (stage) => ordersKilledAt(stage, 'queue', ['after the mail']),
    },
    {
      on: 'temporal',
      without: askBeforeAct,
      breaks: 'mailed twice',
      run: (stage) => ordersKilledAt(stage, 'temporal', ['after the mail']),
    },
  ],
};
