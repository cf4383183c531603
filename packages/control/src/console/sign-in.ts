import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const MINUTE_MS = 60_000;
/** How long the printed link is valid. */
const LINK_MS = 10 * MINUTE_MS;
/** How long a browser stays signed in. */
export const SIGNED_IN_MS = 12 * 60 * MINUTE_MS;

/** One link, and the browser that used it. Both are kept in memory only. */
export interface SignIn {
  /** For the fragment of the printed link: valid once and for 10 minutes. */
  readonly token: string;
  /** The value of the cookie, for the token. Undefined if the token is wrong, used or too old. */
  exchange(token: string): string | undefined;
  /** Whether the cookie is that of the browser that used the link, within 12 hours. */
  admits(cookie: string | undefined): boolean;
}

interface Secret {
  readonly digest: Buffer;
  readonly untilMs: number;
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const made = (untilMs: number): { readonly text: string; readonly secret: Secret } => {
  const text = randomBytes(32).toString('base64url');
  return { text, secret: { digest: digestOf(text), untilMs } };
};

export const createSignIn = (now: () => number = Date.now): SignIn => {
  const link = made(now() + LINK_MS);
  let unused: Secret | undefined = link.secret;
  let browser: Secret | undefined;
  const matches = (secret: Secret | undefined, shown: string): boolean =>
    secret !== undefined && now() < secret.untilMs && timingSafeEqual(secret.digest, digestOf(shown));
  return {
    token: link.text,
    exchange: (token) => {
      if (!matches(unused, token)) return undefined;
      unused = undefined;
      const { text, secret } = made(now() + SIGNED_IN_MS);
      browser = secret;
      return text;
    },
    admits: (cookie) => cookie !== undefined && matches(browser, cookie),
  };
};
