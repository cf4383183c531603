import { isSameId, type RpcMessage, readLine } from './rpc-message.ts';

/** The notification that ends a handshake. */
export const INITIALIZED = Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}');

/**
 * What the client sent to begin its session. A server that has lost the session, because it was started again, gets it once more. The client
 * is not told, because over stdio it cannot begin again by itself. The stateless protocol has no session.
 */
export class ClientHandshake {
  #request: RpcMessage | undefined;
  #body: Buffer | undefined;

  /** The request as it was sent. Undefined before it was. */
  get body(): Buffer | undefined {
    return this.#body;
  }

  /** Takes up the request. */
  begin(request: RpcMessage, body: Buffer): void {
    this.#request = request;
    this.#body = body;
  }

  /** Looks whether a line of the client is the request. */
  look(line: Buffer): void {
    if (!line.includes('"initialize"')) return;
    const [message] = readLine(line)?.messages ?? [];
    if (message?.method === 'initialize') this.begin(message, line);
  }

  /** Whether the server's answer accepts the session. Undefined if the line is not the answer. */
  accepts(line: Buffer): boolean | undefined {
    const answer = readLine(line)?.messages.find(
      ({ id, method }) => method === undefined && isSameId(id, this.#request?.id),
    );
    return answer && answer.error === undefined;
  }
}
