import { z } from 'zod';
import type { Mailer } from '../contract.ts';
import type { Http } from './http.ts';

const mail = z.object({ mailId: z.string() });
const found = z.object({ mails: z.array(mail) });

export function mailerClient(http: Http): Mailer {
  const partner = 'mailer';
  return {
    send: (body, call) => http.ask({ partner, path: 'mailer/mails', body, promised: mail }, call),
    find: async (query, call) =>
      (await http.ask({ partner, path: 'mailer/mails', query, promised: found }, call)).mails,
  };
}
