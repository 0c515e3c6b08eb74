import type { TestContext } from 'node:test';
import { asData } from '../../../core/agent/data.ts';
import type { Message, ModelQuestion } from '../../../core/agent/messages.ts';
import { connectModel } from '../../../partners/clients/model.ts';
import type { Model } from '../../../partners/contract.ts';
import { running, type Running } from './running.ts';

export const key = 'acme/REQ-1/t1/model';
export const apiKey = 'sk-a-secret-of-ours-1234';

/** Partners of the test's own and a client of their model; all of it ends with the test. */
export async function runningModel(
  t: TestContext,
  withKey = apiKey,
): Promise<Running & { model: Model }> {
  const all = await running(t);
  const model = connectModel({ baseUrl: `${all.url}/model/v1`, apiKey: withKey });
  t.after(() => model.close());
  return { ...all, model };
}

/** A question about a request, as the agent begins it, with what was said since. */
export function asking(text: string, ...since: Message[]): ModelQuestion & { key: string } {
  return {
    key,
    model: 'scripted-1',
    messages: [
      { role: 'system', content: 'You buy things.' },
      { role: 'user', content: asData('requester', { text }) },
      ...since,
    ],
    tools: [{ name: 'find_suppliers', description: 'finds them', parameters: { type: 'object' } }],
    maxOutputTokens: 1_000,
  };
}

/** The use of a tool, and what came of it, as two messages. */
export function used(callId: string, name: string, args: object, content: string): Message[] {
  return [
    { role: 'assistant', content: '', calls: [{ callId, name, arguments: JSON.stringify(args) }] },
    { role: 'tool', callId, content },
  ];
}
