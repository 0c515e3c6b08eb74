import { z } from 'zod';
import { serve, type Desk } from './desk.ts';
import { field, referenceOfKey } from './inputs.ts';

/** The mailer: takes no keys, can be asked by message id. */
export function serveMailer(desk: Desk): void {
  const { books } = desk;

  serve(desk, {
    partner: 'mailer',
    operation: 'send',
    method: 'POST',
    url: '/mailer/mails',
    input: z.strictObject({
      messageId: field.shortText,
      reference: field.reference,
      to: field.shortText,
      subject: field.shortText,
      text: z.string(),
    }),
    about: ({ reference, messageId }) => ({ reference, key: messageId }),
    act: ({ messageId, reference }) => {
      const mail = books.draft({ partner: 'mailer', kind: 'mail', reference, key: messageId });
      return { effects: [mail], body: { mailId: mail.id } };
    },
  });

  serve(desk, {
    partner: 'mailer',
    operation: 'find',
    method: 'GET',
    url: '/mailer/mails',
    input: z.strictObject({ messageId: field.shortText }),
    about: ({ messageId }) => ({ reference: referenceOfKey(messageId), key: messageId }),
    act: ({ messageId }) => {
      const mails = books.madeUnder('mailer', 'mail', messageId);
      return { body: { mails: mails.map(({ id }) => ({ mailId: id })) } };
    },
  });
}
