import { z } from 'zod';
import { parsePrice, priceOf } from '../../core/agent/prices.ts';
import type { ModelPrice } from '../../core/agent/prices.ts';

export interface ModelSettings {
  baseUrl: string;
  /** A secret: into the client and nowhere else. */
  apiKey: string;
  model: string;
  price: ModelPrice;
}

const SCRIPTED = 'scripted-1';

/** Such a URL would be in messages of errors, and fetch takes none. */
function holdsPassword(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

const price = z.string().transform((text, context): ModelPrice => {
  const parsed = parsePrice(text);
  if (parsed) return parsed;
  context.addIssue(
    'euro per million input and output tokens, such as "0.15/0.60"; "0/0" for your own',
  );
  return z.NEVER;
});

/**
 * Which model the agent uses, from the environment. Nothing set: the scripted one of the partners, which
 * is sent no key even when there is one. Faults name the variable and never its value.
 */
export const modelEnvironment = z
  .object({
    PARTNERS_URL: z.url(),
    OPENAI_BASE_URL: z
      .url()
      .refine((url) => !holdsPassword(url), 'takes no user and password; OPENAI_API_KEY is the key')
      .optional(),
    OPENAI_API_KEY: z
      .string()
      .regex(/^[\x21-\x7e]+$/, 'must be what a header can carry: ASCII without spaces')
      .optional(),
    AGENT_MODEL: z.string().min(1).optional(),
    AGENT_PRICE_EUR_PER_MILLION_TOKENS: price.optional(),
  })
  .transform((environment, context): ModelSettings => {
    const { PARTNERS_URL, OPENAI_BASE_URL, OPENAI_API_KEY, AGENT_MODEL } = environment;
    const model = AGENT_MODEL ?? SCRIPTED;
    const fault = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (OPENAI_BASE_URL === undefined && model !== SCRIPTED) {
      fault('OPENAI_BASE_URL', `says where ${model} is, such as http://127.0.0.1:11434/v1`);
    }
    if (OPENAI_BASE_URL !== undefined && AGENT_MODEL === undefined) {
      fault('AGENT_MODEL', 'names one of the models at OPENAI_BASE_URL');
    }
    const stated = environment.AGENT_PRICE_EUR_PER_MILLION_TOKENS ?? priceOf(model);
    if (!stated) {
      const name = 'AGENT_PRICE_EUR_PER_MILLION_TOKENS';
      fault(name, `says what ${model} costs, such as "0.15/0.60": without a price no budget holds`);
      return z.NEVER;
    }
    const scripted = `${PARTNERS_URL.replace(/\/$/, '')}/model/v1`;
    return OPENAI_BASE_URL === undefined
      ? { baseUrl: scripted, apiKey: 'none', model, price: stated }
      : { baseUrl: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY ?? 'none', model, price: stated };
  });
