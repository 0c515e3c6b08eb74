import { eachObject, isObject, type Json, type JsonObject } from './json.ts';

/**
 * In a recorded file a payload is the value itself, `{"$json": …}`, and not base64: a reviewer reads it,
 * and so does the test that looks for secrets. Payloads of another encoding stay as the server wrote them.
 */
const VALUE = '$json';
const JSON_PLAIN = base64('json/plain');

/** A history in Temporal's JSON with its JSON payloads in the clear. */
export function withReadablePayloads(history: Json): Json {
  return eachObject(history, (payload) => {
    const { metadata, data } = payload;
    if (!isObject(metadata) || typeof data !== 'string') return undefined;
    const { encoding, ...others } = metadata;
    if (encoding !== JSON_PLAIN) return undefined;
    const value = JSON.parse(Buffer.from(data, 'base64').toString()) as Json;
    const facts = Object.entries(others).map(([name, text]) => [name, fromBase64(text)]);
    return { [VALUE]: value, ...(Object.fromEntries(facts) as JsonObject) };
  });
}

/** The reverse. A history as other Temporal tools write it comes out unchanged. */
export function withRawPayloads(history: Json): Json {
  return eachObject(history, (readable) => {
    const { [VALUE]: value, ...facts } = readable;
    if (value === undefined) return undefined;
    const metadata = Object.entries(facts).map(([name, text]) => [name, base64(asText(text))]);
    return {
      metadata: { encoding: JSON_PLAIN, ...(Object.fromEntries(metadata) as JsonObject) },
      data: base64(JSON.stringify(value)),
    };
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function fromBase64(text: Json): string {
  return Buffer.from(asText(text), 'base64').toString();
}

function asText(value: Json): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`a payload's metadata is text, not ${JSON.stringify(value)}`);
}
