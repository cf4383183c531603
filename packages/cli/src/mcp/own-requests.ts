import { isObject, read, readText } from '@breakerbox/core/internal';
import type { RpcMessage } from './rpc-message.ts';

/** Maximum number of subscriptions that are remembered, and characters of an address. */
const MOST_SUBSCRIPTIONS = 200;
const MOST_URI = 4_000;

/** What a server can say has changed, by the member of its capabilities. */
const LISTS = ['tools', 'prompts', 'resources'] as const;

/**
 * What a client has asked of its session, apart from calls. A server that begins another session knows nothing of it (M1, M7).
 */
export class ClientWishes {
  readonly #subscriptions = new Map<string, object>();
  #level: object | undefined;
  #lists: readonly string[] = [];

  /** Looks at a request of the client. */
  look({ method, params }: RpcMessage): void {
    if (method === 'logging/setLevel') this.#level = isObject(params) ? params : undefined;
    const uri = method?.startsWith('resources/') ? readText(params, 'uri', MOST_URI) : undefined;
    if (uri === undefined) return;
    if (method === 'resources/unsubscribe') this.#subscriptions.delete(uri);
    if (method === 'resources/subscribe' && this.#subscriptions.size < MOST_SUBSCRIPTIONS)
      this.#subscriptions.set(uri, { uri });
  }

  /** Reads what the server can do. */
  learn(result: unknown): void {
    const capabilities = read(result, 'capabilities');
    this.#lists = LISTS.filter((one) => isObject(read(capabilities, one)));
  }

  /** The requests that a new session needs: their methods and parameters. */
  requests(): readonly (readonly [string, object])[] {
    return [
      ...(this.#level === undefined ? [] : [['logging/setLevel', this.#level] as const]),
      ...[...this.#subscriptions.values()].map((params) => ['resources/subscribe', params] as const),
    ];
  }

  /** Tells the client that another process or session may have other tools. */
  notifications(): readonly string[] {
    return this.#lists.map((one) => `{"jsonrpc":"2.0","method":"notifications/${one}/list_changed"}`);
  }
}
