import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { connectModel } from '../../../partners/clients/model.ts';
import { modelEnvironment } from '../../../partners/clients/model-settings.ts';
import { call, running } from './running.ts';
import { asking } from './model-running.ts';

const PARTNERS_URL = 'http://127.0.0.1:4100';
const OPENAI_API_KEY = 'sk-a-secret-of-ours-1234';
const real = {
  PARTNERS_URL,
  OPENAI_API_KEY,
  OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1',
  AGENT_MODEL: 'llama',
  AGENT_PRICE_EUR_PER_MILLION_TOKENS: '0/0',
};

const faults = (environment: object) => {
  const parsed = modelEnvironment.safeParse(environment);
  return parsed.success ? '' : z.prettifyError(parsed.error);
};

test('without settings it is the scripted model, which answers and is sent no key', async (t) => {
  const { url, control } = await running(t);
  const settings = modelEnvironment.parse({ PARTNERS_URL: url, OPENAI_API_KEY });
  assert.deepEqual([settings.apiKey, settings.model], ['none', 'scripted-1']);
  const model = connectModel(settings);
  t.after(() => model.close());
  await model.complete({ ...asking('3 pens'), model: settings.model }, call);
  assert.equal((await control.counts()).completion, 1);
});

test('a model of one’s own is named with its address and its price; a key only if it wants one', () => {
  assert.deepEqual(modelEnvironment.parse(real), {
    baseUrl: real.OPENAI_BASE_URL,
    apiKey: OPENAI_API_KEY,
    model: 'llama',
    price: { inputNanoEurPerToken: 0, outputNanoEurPerToken: 0 },
  });
  const { OPENAI_API_KEY: key, ...keyless } = real;
  assert.equal(modelEnvironment.parse(keyless).apiKey, 'none');
  assert.ok(!faults(real).includes(key));
});

test('what is missing or wrong is named by its variable, and the key is not repeated', () => {
  const { AGENT_MODEL, OPENAI_BASE_URL, AGENT_PRICE_EUR_PER_MILLION_TOKENS, ...bare } = real;
  const withPassword = { ...real, OPENAI_BASE_URL: 'http://ann:hush@127.0.0.1:1/v1' };
  assert.match(faults(withPassword), /OPENAI_API_KEY is the key/);
  assert.doesNotMatch(faults(withPassword), /hush/);
  assert.match(faults({ ...bare, AGENT_MODEL }), /OPENAI_BASE_URL/);
  assert.match(faults({ ...bare, OPENAI_BASE_URL }), /AGENT_MODEL/);
  assert.match(faults({ ...bare, OPENAI_BASE_URL, AGENT_MODEL }), /AGENT_PRICE_EUR_PER_MILLION/);
  assert.match(faults({ ...real, AGENT_PRICE_EUR_PER_MILLION_TOKENS: 'cheap' }), /0\.15\/0\.60/);
  const unsendable = faults({ ...real, OPENAI_API_KEY: `${OPENAI_API_KEY}\n` });
  assert.match(unsendable, /OPENAI_API_KEY/);
  assert.ok(!unsendable.includes(OPENAI_API_KEY));
  assert.equal(AGENT_PRICE_EUR_PER_MILLION_TOKENS, '0/0');
});
