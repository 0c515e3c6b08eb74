import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { agentKey, agentRunIdOf, orderIdOfRequest } from '../../../core/agent/identity.ts';
import { agentPolicySchema, defaultAgentPolicy } from '../../../core/agent/policy.ts';
import { formatNanoEur, nanoEur, parsePrice, priceOf } from '../../../core/agent/prices.ts';
import { parseRequest } from '../../../core/agent/request.ts';
import { effectKey } from '../../../core/identity.ts';
import { MAX_ID_LENGTH } from '../../../core/identity.ts';
import { orderIdentifier } from '../../../core/order/text.ts';

const request = {
  requestRef: 'REQ-1',
  buyer: { id: 'acme', name: 'Acme', email: 'buyer@acme.example' },
  text: '40 office chairs\n under 200 euro each',
  currency: 'EUR',
};

test('a request is read in canonical form, on one line', () => {
  const parsed = parseRequest(request);
  assert.ok(parsed.ok);
  assert.equal(parsed.request.text, '40 office chairs under 200 euro each');
});

test('a bad request names every fault, and what to do about it', () => {
  const parsed = parseRequest({
    ...request,
    text: ' ',
    currency: 'eur',
    requestRef: 'r'.repeat(48),
  });
  assert.ok(!parsed.ok);
  assert.deepEqual(
    parsed.faults.map(({ path }) => path),
    ['requestRef', 'text', 'currency'],
  );
  assert.match(parsed.faults[0]?.hint ?? '', /at most 47/);
  assert.equal(parseRequest(undefined).ok, false);
  assert.equal(parseRequest({ ...request, requestRef: '\ud800' }).ok, false);
});

test('whatever a request is called, its order’s reference is a valid one', () => {
  const refs = fc.string({ unit: 'grapheme', minLength: 1, maxLength: MAX_ID_LENGTH });
  fc.assert(
    fc.property(refs, (requestRef) => {
      const parsed = parseRequest({ ...request, requestRef });
      if (!parsed.ok) return;
      const id = { buyerId: 'acme', orderRef: parsed.request.requestRef };
      const { orderRef } = orderIdOfRequest(id);
      assert.equal(orderIdentifier.parse(orderRef), orderRef);
      assert.ok(agentRunIdOf(id).length <= 255);
    }),
  );
});

test('effect keys tell runs, turns and calls apart, from each other and from an order’s', () => {
  const id = { buyerId: 'a/b', orderRef: 'REQ 1' };
  const other = { buyerId: 'a', orderRef: 'b/REQ 1' };
  const keys = [
    agentKey(id, 1),
    agentKey(id, 11),
    agentKey(id, 1, 'model'),
    agentKey(id, 1, '1/x'),
    agentKey(other, 1),
    effectKey(id, { revision: 1, step: 'charge' }),
  ];
  assert.equal(new Set(keys).size, keys.length);
  assert.ok(keys.slice(0, 4).every((key) => key.startsWith('a%2Fb/REQ%201/t')));
});

test('prices are whole nano-euros a token, rounded against us', () => {
  assert.deepEqual(priceOf('scripted-1'), parsePrice('0.15/0.60'));
  assert.deepEqual(parsePrice('0/0'), { inputNanoEurPerToken: 0, outputNanoEurPerToken: 0 });
  assert.equal(parsePrice('0.0001/15')?.inputNanoEurPerToken, 1);
  for (const wrong of ['', '1', '1/', '-1/2', '1/2/3', '1e3/1']) {
    assert.equal(parsePrice(wrong), undefined, wrong);
  }
  assert.equal(priceOf('gpt-nobody-has-stated'), undefined);
  assert.equal(priceOf('constructor'), undefined);
  assert.equal(nanoEur('2.00'), 2_000_000_000);
  assert.equal(nanoEur('0.0000000019'), 1);
  assert.equal(formatNanoEur(12_345_678), 'EUR 0.0124');
});

test('the default limits are valid ones', () => {
  assert.deepEqual(agentPolicySchema.parse(defaultAgentPolicy), defaultAgentPolicy);
});
