import type { IncomingMessage } from 'node:http';
import { CookieJar } from 'tough-cookie';

/** Characters of a cookie that is kept, and how many of one answer. */
const MOST_COOKIE = 8_000;
const MOST_OF_ANSWER = 50;

/**
 * The cookies of one client, in memory. A load balancer that keeps a session at one backend does it by a cookie, and a request without it
 * meets a backend that knows nothing of the session.
 */
export class Cookies {
  readonly #jar = new CookieJar(undefined, { rejectPublicSuffixes: false });

  /** The header of a request. Undefined without cookies for its address. */
  header({ href }: URL): string | undefined {
    return this.#jar.getCookieStringSync(href) || undefined;
  }

  /** Keeps what an answer sets. A cookie that is not valid, or is of another host, is left out. */
  take({ href }: URL, { headers }: IncomingMessage): void {
    for (const cookie of (headers['set-cookie'] ?? []).slice(0, MOST_OF_ANSWER))
      if (cookie.length <= MOST_COOKIE) this.#jar.setCookieSync(cookie, href, { ignoreError: true });
  }
}
