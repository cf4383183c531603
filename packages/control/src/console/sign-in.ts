import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const MINUTE_MS = 60_000;
/** How long the printed link is valid. */
const LINK_MS = 10 * MINUTE_MS;
/** How long a browser stays signed in. */
export const SIGNED_IN_MS = 12 * 60 * MINUTE_MS;

/** Links, and the browsers that used them. Both are kept in memory only. */
export interface SignIn {
  /** For the fragment of a link: valid once and for 10 minutes. */
  newToken(): string;
  /** The value of the cookie, for the token. Undefined if the token is wrong, used or too old. */
  exchange(token: string): string | undefined;
  /** The browser that used a link, within 12 hours, and has this cookie: a name that differs for each. Undefined for another cookie. */
  browserOf(cookie: string | undefined): string | undefined;
}

interface Secret {
  readonly digest: Buffer;
  readonly untilMs: number;
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Secrets of one kind. */
const createSecrets = (now: () => number, validMs: number) => {
  let kept: readonly Secret[] = [];
  const find = (shown: string): Secret | undefined => {
    kept = kept.filter(({ untilMs }) => now() < untilMs);
    const digest = digestOf(shown);
    return kept.find((one) => timingSafeEqual(one.digest, digest));
  };
  return {
    make: (): string => {
      const text = randomBytes(32).toString('base64url');
      kept = [...kept, { digest: digestOf(text), untilMs: now() + validMs }];
      return text;
    },
    /** The beginning of its digest, which says nothing about it. */
    nameOf: (shown: string): string | undefined => find(shown)?.digest.toString('hex', 0, 8),
    /** True once. */
    use: (shown: string): boolean => {
      const found = find(shown);
      kept = kept.filter((one) => one !== found);
      return found !== undefined;
    },
  };
};

/** A wall clock that is set would end or prolong what was promised. */
export const createSignIn = (now: () => number = () => performance.now()): SignIn => {
  const links = createSecrets(now, LINK_MS);
  const browsers = createSecrets(now, SIGNED_IN_MS);
  return {
    newToken: links.make,
    exchange: (token) => (links.use(token) ? browsers.make() : undefined),
    browserOf: (cookie) => (cookie === undefined ? undefined : browsers.nameOf(cookie)),
  };
};
