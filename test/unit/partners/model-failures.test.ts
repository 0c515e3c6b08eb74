import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import type { FailureClass } from '../../../core/failures.ts';
import { connectModel } from '../../../partners/clients/model.ts';
import { call, failsAs, failureOf, shortCall } from './running.ts';
import { apiKey, asking, runningModel } from './model-running.ts';

const question = asking('40 office chairs');
const said = (code: string | null) => ({ error: { message: 'the reason in words', code } });

const answers: [
  status: number,
  body: ReturnType<typeof said> | string | undefined,
  failureClass: FailureClass,
  code: string,
][] = [
  [400, said('context_length_exceeded'), 'never', 'context_length_exceeded'],
  [400, said(null), 'never', 'http-400'],
  [401, said('invalid_api_key'), 'never', 'unauthorised'],
  [403, '<html>', 'never', 'unauthorised'],
  [404, said('model_not_found'), 'never', 'model_not_found'],
  [408, undefined, 'unknown', 'bad-answer'],
  [409, undefined, 'never', 'http-409'],
  [413, undefined, 'never', 'http-413'],
  [422, undefined, 'never', 'http-422'],
  [429, said('rate_limit_exceeded'), 'busy', 'rate-limited'],
  [429, said('insufficient_quota'), 'never', 'insufficient_quota'],
  [500, undefined, 'unknown', 'server-error'],
  [502, '<html>Bad gateway</html>', 'unknown', 'server-error'],
  [503, undefined, 'busy', 'unavailable'],
  [200, '{"choices":', 'unknown', 'bad-answer'],
  [200, '{"choices":[]}', 'unknown', 'bad-answer'],
  [200, '{}', 'unknown', 'bad-answer'],
];

test('an answer that is no answer has the class that says what the next attempt may do, and is asked once', async (t) => {
  const { model, control } = await runningModel(t);
  for (const [status, body, failureClass, code] of answers) {
    const effect = { kind: 'status', status, ...(body !== undefined && { body }) } as const;
    const faultId = await control.setFault({ partner: 'model', effect });
    const { message } = await failsAs(model.complete(question, call), failureClass, code);
    assert.match(message, /^model answered /);
    const [fault] = await control.faults();
    assert.equal(fault?.struck, 1, `${status} was asked again`);
    await control.clearFault(faultId);
  }
  assert.equal((await control.counts()).completion, 0);
});

test('a model that is busy says when to come back', async (t) => {
  const { model, control } = await runningModel(t);
  for (const status of [429, 503]) {
    const effect = { kind: 'status', status, retryAfter: 90 } as const;
    const faultId = await control.setFault({ effect });
    const { retryAfterMs } = await failureOf(model.complete(question, call));
    assert.equal(retryAfterMs, 90_000);
    await control.clearFault(faultId);
  }
});

test('whether an answer that got lost was paid for is unknown, and it was', async (t) => {
  const { model, control } = await runningModel(t);
  await control.setFault({ times: 1, effect: { kind: 'drop-after' } });
  await failsAs(model.complete(question, call), 'unknown', 'connection-lost');
  await control.setFault({ effect: { kind: 'hang-after' } });
  await failsAs(model.complete(question, shortCall), 'unknown', 'timeout');
  assert.equal((await control.counts()).completion, 2);
});

test('a slow answer is waited for, and the caller’s own abort comes back as it is', async (t) => {
  const { model, control } = await runningModel(t);
  await control.setFault({ times: 1, effect: { kind: 'delay', ms: 50 } });
  assert.equal((await model.complete(question, call)).finish, 'tool-calls');
  await control.setFault({ effect: { kind: 'hang-before' } });
  const controller = new AbortController();
  const reason = new Error('the request was cancelled');
  const pending = model.complete(question, { ...call, signal: controller.signal });
  await control.waitUntilHeld({ operation: 'complete', reference: 'acme/REQ-1' }, 10_000);
  controller.abort(reason);
  await assert.rejects(pending, reason);
  await assert.rejects(model.complete(question, { ...call, signal: controller.signal }), reason);
});

test('a body that never ends runs into the deadline of the call', async (t) => {
  const baseUrl = await answering(t, '{"choices":', { ends: false });
  const model = connectModel({ baseUrl, apiKey });
  t.after(() => model.close());
  await failsAs(model.complete(question, shortCall), 'unknown', 'timeout');
});

test('a server that leaves out what it may is read all the same', async (t) => {
  const calls = [{ function: { name: 'find_suppliers', arguments: '{}' } }];
  const answer = { choices: [{ message: { tool_calls: calls } }] };
  const baseUrl = await answering(t, JSON.stringify(answer));
  const model = connectModel({ baseUrl, apiKey });
  t.after(() => model.close());
  assert.deepEqual(await model.complete(question, call), {
    text: '',
    calls: [{ callId: '', name: 'find_suppliers', arguments: '{}' }],
    finish: 'stop',
  });
});

test('a model that nobody serves has not acted: busy', async (t) => {
  const gone = await runningModel(t);
  await gone.close();
  const model = connectModel({ baseUrl: `${gone.url}/model/v1`, apiKey });
  t.after(() => model.close());
  const { message } = await failsAs(model.complete(question, call), 'busy', 'unreachable');
  assert.equal(message, `model at ${new URL(gone.url).host} can't be reached: ECONNREFUSED`);
});

test('a port that fetch sends nothing to is a mistake in the settings, and costs nothing', async (t) => {
  const model = connectModel({ baseUrl: 'http://127.0.0.1:9/v1', apiKey });
  t.after(() => model.close());
  const { message } = await failsAs(model.complete(question, call), 'never', 'bad-port');
  assert.match(message, /^model at 127\.0\.0\.1:9: .*this port$/);
});

test('what a real endpoint refuses, the scripted one refuses', async (t) => {
  const { model, control } = await runningModel(t);
  const nobody = { ...question, model: 'no-such-model' };
  await failsAs(model.complete(nobody, call), 'never', 'model_not_found');
  const unanswered = asking('chairs', {
    role: 'assistant',
    content: '',
    calls: [{ callId: 'a', name: 'find_suppliers', arguments: '{}' }],
  });
  await failsAs(model.complete(unanswered, call), 'never', 'invalid_request_error');
  const uncalled = asking('chairs', { role: 'tool', callId: 'b', content: 'error: no' });
  await failsAs(model.complete(uncalled, call), 'never', 'invalid_request_error');
  assert.equal((await control.counts()).completion, 0);
});

test('any client may ask, with or without saying whose call it is; what makes no sense names its field', async (t) => {
  const { url, control } = await runningModel(t);
  const ask = async (more: object, headers: Record<string, string> = {}) => {
    const messages = [{ role: 'user', content: 'hello' }];
    const response = await fetch(`${url}/model/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'scripted-1', messages, ...more }),
    });
    return { status: response.status, text: await response.text() };
  };
  assert.equal((await ask({ temperature: 0 })).status, 200);
  assert.equal((await control.counts()).completion, 1);
  const streaming = await ask({ stream: true });
  assert.deepEqual([streaming.status, /streaming is off/.test(streaming.text)], [400, true]);
  const empty = await ask({ messages: [] });
  assert.deepEqual([empty.status, /messages/.test(empty.text)], [400, true]);
  const unlabelled = await ask({}, { 'x-effect-key': 'no-business-key' });
  assert.deepEqual([unlabelled.status, /X-Effect-Key/.test(unlabelled.text)], [400, true]);
  assert.equal((await control.counts()).completion, 1);
});

test('an answer of more than five megabytes is given up as unknown', async (t) => {
  const baseUrl = await answering(t, `{"choices":"${'x'.repeat(5_100_000)}"}`);
  const model = connectModel({ baseUrl, apiKey });
  t.after(() => model.close());
  const { message } = await failsAs(model.complete(question, call), 'unknown', 'connection-lost');
  assert.match(message, /MAX_SIZE/);
});

test('the key is in no failure, however the endpoint answers or the key is written', async (t) => {
  const wrong = 'wrong-but-secret-4711';
  const failures = [];
  const refused = await runningModel(t, wrong);
  failures.push(await failureOf(refused.model.complete(question, call)));
  for (const [status, message] of [
    [400, `your key ${wrong} is odd`],
    [500, `${wrong} ${wrong}`],
  ] as const) {
    const baseUrl = await answering(t, JSON.stringify({ error: { message, code: wrong } }), {
      status,
    });
    const model = connectModel({ baseUrl, apiKey: wrong });
    t.after(() => model.close());
    failures.push(await failureOf(model.complete(question, call)));
  }
  const nonsense = connectModel({ baseUrl: await answering(t, `"${wrong}"`), apiKey: wrong });
  t.after(() => nonsense.close());
  failures.push(await failureOf(nonsense.complete(question, call)));
  const unsendable = connectModel({ baseUrl: refused.url, apiKey: `${wrong}\n` });
  t.after(() => unsendable.close());
  failures.push(await failureOf(unsendable.complete(question, call)));
  for (const failure of failures) {
    const all = `${inspect(failure, { depth: 9, showHidden: true })} ${JSON.stringify(failure)}`;
    assert.ok(!all.includes(wrong), all);
  }
});

/** An endpoint that answers everything like this; ends with the test. Returns its base URL. */
async function answering(
  t: TestContext,
  body: string,
  { status = 200, ends = true } = {},
): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    if (ends) response.end(body);
    else response.write(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // A TCP server's address is a string only on a Unix socket.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
