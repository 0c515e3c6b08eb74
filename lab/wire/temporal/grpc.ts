import http2 from 'node:http2';
import type {
  ClientHttp2Session,
  Http2Stream,
  IncomingHttpHeaders,
  ServerHttp2Stream,
} from 'node:http2';
import { gunzipSync } from 'node:zlib';

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR } = http2.constants;

/** The answer to a unary call, as it came. */
export interface Answer {
  headers: IncomingHttpHeaders;
  body: Buffer;
  trailers: IncomingHttpHeaders;
  /** Headers that are trailers as well, without a body: how gRPC answers an early failure. */
  bare: boolean;
}

/** The whole body of a stream: every call here is unary, so it is one message of a few megabytes at most. */
export async function bodyOf(stream: Http2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream.iterator({ destroyOnReturn: false }))
    chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The message in a gRPC frame, unpacked when its flag says that it is packed. */
export function messageIn(body: Buffer): Buffer {
  if (body.length < 5) return Buffer.alloc(0);
  const message = body.subarray(5, 5 + body.readUInt32BE(1));
  return body.readUInt8(0) === 1 ? gunzipSync(message) : message;
}

/**
 * Makes a call and waits for its whole answer. Ends with the caller's stream: a poll that its worker
 * has given up must not stay open at the server, where it would swallow a task. Undefined when there
 * is nobody left to answer; the error code of a call that the server reset is passed on.
 */
export async function call(
  upstream: ClientHttp2Session,
  headers: IncomingHttpHeaders,
  body: Buffer,
  caller: ServerHttp2Stream,
): Promise<Answer | undefined> {
  const stream = upstream.request(headers, { endStream: false });
  const abandon = () => stream.close(NGHTTP2_CANCEL);
  caller.once('close', abandon);
  let answer: Omit<Answer, 'body'> | undefined;
  stream.on('response', (received, flags) => {
    const bare = (flags & NGHTTP2_FLAG_END_STREAM) !== 0;
    answer = { headers: received, trailers: bare ? received : {}, bare };
  });
  stream.on('trailers', (trailers: IncomingHttpHeaders) => {
    if (answer !== undefined) answer.trailers = trailers;
  });
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  stream.on('error', () => {
    // Its code is read when it closes.
  });
  stream.end(body);
  const received = await bodyOf(stream).catch(() => Buffer.alloc(0));
  await closed;
  caller.off('close', abandon);
  if (caller.destroyed || caller.closed) return undefined;
  if (answer !== undefined && answer.trailers['grpc-status'] !== undefined)
    return { ...answer, body: received };
  caller.close(stream.rstCode === NGHTTP2_NO_ERROR ? NGHTTP2_CANCEL : stream.rstCode);
  return undefined;
}

/** Gives a caller its answer. */
export function reply(caller: ServerHttp2Stream, { headers, body, trailers, bare }: Answer): void {
  if (bare) {
    caller.respond(headers, { endStream: true });
    return;
  }
  caller.respond(headers, { waitForTrailers: true });
  caller.once('wantTrailers', () => caller.sendTrailers(trailers));
  caller.end(body);
}
