import { z } from 'zod';
import { perform } from '../ledger/effect.ts';
import type { ChildCode } from '../joins/work-on-child.ts';

const mailSchema = z.object({
  messageId: z.string(),
  to: z.string(),
  subject: z.string(),
  text: z.string(),
});

/** Sends a mail from the outbox. The mailer takes no keys: after an ambiguous failure only asking by message id tells. */
export const sendMail: ChildCode = async (engine, child, performer) => {
  const mail = mailSchema.parse(child.input);
  const { messageId } = mail;
  const { mailer } = engine.partners;
  const performed = await perform(performer, {
    effectKey: messageId,
    runId: child.runId,
    revision: child.revision,
    step: 'invoice',
    partner: 'mailer',
    ask: async (call) => (await mailer.find({ messageId }, call))[0],
    act: (call) => mailer.send({ ...mail, reference: child.runId }, call),
  });
  return { value: performed.outcome.mailId, performed };
};
