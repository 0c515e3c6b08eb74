import type { ModelPrice } from '../core/agent/prices.ts';
import { modelEnvironment } from '../partners/clients/model-settings.ts';
import { badInput } from './errors.ts';

/** What a request is asked with; where the model is and with which key are the workers' settings. */
export interface ModelChoice {
  model: string;
  price: ModelPrice;
}

const OWN = ['OPENAI_BASE_URL', 'AGENT_MODEL', 'AGENT_PRICE_EUR_PER_MILLION_TOKENS'];

/** The user's own model, undefined when they have none. Throws a CommandError that names each bad variable. */
export function ownModel(env: NodeJS.ProcessEnv): ModelChoice | undefined {
  return OWN.some((name) => env[name]) ? modelOf(env) : undefined;
}

/** The user's own, otherwise that of the running `npm run up`, otherwise the scripted one of the partners. */
export function modelToAsk(env: NodeJS.ProcessEnv, up: ModelChoice | undefined): ModelChoice {
  return ownModel(env) ?? up ?? modelOf({});
}

/** The user's settings of a model as workers need them, the key included: into their environment and nowhere else. */
export function modelEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    // An empty variable is how a shell says "not set".
    Object.entries(env).filter(([name, value]) => value && isModels(name)),
  );
}

function isModels(name: string): boolean {
  return name.startsWith('OPENAI_') || OWN.includes(name);
}

function modelOf(env: NodeJS.ProcessEnv): ModelChoice {
  // The address of the partners is asked for too, and does not bear on model and price.
  const settings = { ...modelEnv(env), PARTNERS_URL: 'http://127.0.0.1' };
  const parsed = modelEnvironment.safeParse(settings);
  if (parsed.success) return { model: parsed.data.model, price: parsed.data.price };
  const faults = parsed.error.issues.map(({ path, message }) => ({
    path: path.join('.'),
    message,
    hint: 'Workers and `q2t agent ask` take the same setting.',
  }));
  const told = faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw badInput(`The model's settings can't be used: ${told}.`);
}
