import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, gzipSync } from 'node:zlib';
import { EVENTS, WHOLE, type WireFormat } from './recordings.ts';

/** What the provider does with one call. */
export type Behaviour = (call: ProviderCall) => void;

/** A call that the provider got. */
export interface ProviderCall {
  readonly format: WireFormat;
  readonly isStream: boolean;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
  readonly response: ServerResponse;
}

/** A provider on loopback that speaks every wire format. */
export interface LoopbackProvider {
  readonly url: string;
  /** The calls that it got. */
  readonly calls: readonly ProviderCall[];
  /** What it does from now on. Begins with {@link answers}. */
  behave(next: Behaviour): void;
}

/** Starts a provider, which ends with the process: tests that run side by side would stop each other's at their ends. */
export const loopbackProvider = async (): Promise<LoopbackProvider> => {
  const calls: ProviderCall[] = [];
  let behaviour: Behaviour = answers;
  const server = createServer(async (request, response) => {
    let text = '';
    try {
      for await (const piece of request) text += piece;
    } catch {
      return; // The client left.
    }
    const body = JSON.parse(text || '{}') as Record<string, unknown>;
    const format = formatOf(request.url ?? '');
    const isStream = body.stream === true || (request.url ?? '').includes('streamGenerateContent');
    const call = { format, isStream, body, headers: request.headers, response };
    calls.push(call);
    behaviour(call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    behave: (next) => {
      behaviour = next;
    },
  };
};

const formatOf = (url: string): WireFormat => {
  if (url.includes('/chat/completions')) return 'chat';
  if (url.includes('/responses')) return 'responses';
  return url.includes('/messages') ? 'messages' : 'gemini';
};

export const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };
export const JSON_TYPE = { 'content-type': 'application/json' };

/** Answers as a provider that works. */
export const answers: Behaviour = ({ format, isStream, response }) => {
  if (isStream) response.writeHead(200, SSE).end(EVENTS[format].join(''));
  else response.writeHead(200, JSON_TYPE).end(JSON.stringify(WHOLE[format]));
};

/** Answers with the usage of a prompt of 100 tokens, 40 of which were in the cache. Anthropic counts them apart. */
export const cached: Behaviour = ({ format, isStream, response }) => {
  const usage = (text: string): string =>
    text
      .replaceAll('"prompt_tokens":11', '"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":40}')
      .replaceAll('"promptTokenCount":11', '"promptTokenCount":100,"cachedContentTokenCount":40')
      .replaceAll(
        '"input_tokens":11',
        format === 'messages'
          ? '"input_tokens":60,"cache_read_input_tokens":40'
          : '"input_tokens":100,"input_tokens_details":{"cached_tokens":40}',
      );
  if (isStream) response.writeHead(200, SSE).end(usage(EVENTS[format].join('')));
  else response.writeHead(200, JSON_TYPE).end(usage(JSON.stringify(WHOLE[format])));
};

/** Answers with an error. */
export const refuses =
  (status: number, body: object | string, headers: Record<string, string> = {}): Behaviour =>
  ({ response }) =>
    void response
      .writeHead(status, { ...JSON_TYPE, ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

/** Sends these bytes of a stream, then cuts the connection, ends it as if it were complete, or sends nothing more. */
export const sends =
  (bytes: Uint8Array | string, then: 'reset' | 'end' | 'hang', headers: Record<string, string> = SSE): Behaviour =>
  ({ response }) => {
    response.writeHead(200, headers);
    response.write(bytes, () => {
      if (then === 'reset') response.socket?.resetAndDestroy();
      else if (then === 'end') response.end();
    });
    if (bytes.length === 0) response.flushHeaders();
  };

/** Resets the connection before any answer. */
export const resets: Behaviour = ({ response }) => void response.socket?.resetAndDestroy();

/** Never answers. */
export const hangs: Behaviour = () => {};

/** A compressed stream that ends too early, after these events. */
export const cutGzip = (events: string): Behaviour => {
  const bytes = gzipSync(events, { finishFlush: constants.Z_SYNC_FLUSH });
  return sends(bytes, 'end', { ...SSE, 'content-encoding': 'gzip' });
};
