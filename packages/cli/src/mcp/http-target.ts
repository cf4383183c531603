import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';

/** Milliseconds that an idle connection is kept. Many servers close one after 5 s, and a request that meets the closing fails. */
const IDLE_MS = 4_000;

/** Redirects that are followed in a row, within the same origin. A server that wants a slash at the end of the path redirects. */
const MOST_REDIRECTS = 3;

/** A request to the server. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
  /** Called when the body has left the memory, or the request has failed. */
  readonly onSent?: () => void;
}

/** An MCP server's address, with the headers that each request carries. There is no timeout: a call may take hours. */
export class HttpTarget {
  #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: Agent;

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
    const options = { keepAlive: true, timeout: IDLE_MS };
    this.#agent = url.protocol === 'https:' ? new SecureAgent(options) : new Agent(options);
  }

  /** The host and port, for texts. The rest of the address may be secret. */
  get host(): string {
    return this.#url.host;
  }

  /** @throws Error (rejects) if the connection fails. */
  async send(request: HttpRequest): Promise<IncomingMessage> {
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#once(request);
      const next = redirects < MOST_REDIRECTS ? this.#redirect(response) : undefined;
      if (next === undefined) return response;
      response.resume();
      this.#url = next;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #once({ method, headers, body, signal, onSent }: HttpRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const start = this.#url.protocol === 'https:' ? requestHttps : requestHttp;
      const length = body === undefined ? {} : { 'content-length': `${body.length}` };
      const all = { ...this.#headers, ...headers, ...length };
      const request = start(this.#url.href, { method, headers: all, signal, agent: this.#agent });
      request.once('response', resolve);
      request.on('error', reject);
      if (onSent) request.once('finish', onSent).once('close', onSent);
      request.end(body);
    });
  }

  #redirect({ statusCode, headers: { location } }: IncomingMessage): URL | undefined {
    if ((statusCode !== 307 && statusCode !== 308) || location === undefined) return undefined;
    if (!URL.canParse(location, this.#url.href)) return undefined;
    const next = new URL(location, this.#url);
    return next.origin === this.#url.origin ? next : undefined; // Headers with secrets go to no other origin.
  }
}
