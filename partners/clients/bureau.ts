import { z } from 'zod';
import type { Bureau } from '../contract.ts';
import type { Http } from './http.ts';

const enquiry = z.object({ enquiryId: z.string(), score: z.int().min(0).max(1_000) });
const screening = z.object({ screeningId: z.string(), listed: z.string().nullable() });

export function bureauClient(http: Http): Bureau {
  return {
    enquire: ({ key, ...body }, call) =>
      http.ask({ partner: 'bureau', path: 'bureau/enquiries', key, body, promised: enquiry }, call),
    screen: ({ key, ...body }, call) =>
      http.ask(
        { partner: 'bureau', path: 'bureau/screenings', key, body, promised: screening },
        call,
      ),
  };
}
