import type { ErrorCategory } from './taxonomy.ts';
import { read, readItems, readText } from './untrusted.ts';

/** Statuses by which providers say that an account is empty, a key is wrong, or a caller too quick: any of them, at will. */
const REFUSALS: ReadonlySet<number> = new Set([400, 402, 403]);

/** Where the body of an answer is kept: OpenAI, Anthropic; axios, gaxios; AI SDK; got, Elasticsearch. */
const BODIES: readonly (readonly string[])[] = [
  [],
  ['error'],
  ['error', 'error'],
  ['response', 'data'],
  ['response', 'data', 'error'],
  ['data'],
  ['data', 'error'],
];
const BODY_TEXTS: readonly (readonly string[])[] = [
  ['message'],
  ['error', 'message'],
  ['error', 'error', 'message'],
  ['responseBody'],
  ['response', 'data'],
  ['response', 'body'],
];
const WORDS = ['type', 'code', 'reason', 'status'] as const;

/** Codes and phrases of providers. A billing address, a credit card or a sales quota is the business of a tool. */
const SAYS: readonly (readonly [ErrorCategory, RegExp])[] = [
  // Stripe answers 402 for a customer's card, which is an answer
  ['invalid_input', /\b(?:card_error|card_declined)\b/],
  [
    'permission',
    /\bAPI_KEY_(?:INVALID|EXPIRED)\b|\binvalid_api_key\b|\bapi key (?:is )?(?:not valid|expired|invalid)\b/i,
  ],
  ['rate_limit', /\b(?:user)?rateLimitExceeded\b|\brate_limit_(?:exceeded|error)\b|\brate limit (?:was )?exceeded\b/i],
  ['rate_limit', /\bsecondary rate limit\b/i],
  [
    'resource',
    /\b(?:billing_(?:error|hard_limit_reached|not_active|disabled|required)|billing(?:NotEnabled|Disabled))\b/i,
  ],
  ['resource', /\bbilling (?:hard )?limit (?:has been |was )?reached\b|\bbilling (?:is )?(?:not active|disabled)\b/i],
  ['resource', /\b(?:insufficient_(?:quota|credits?|balance)|(?:quota|daily_?limit)_?exceeded|exceeded_quota)\b/i],
  ['resource', /\bcredits?_(?:exhausted|exceeded|required|depleted)\b/i],
  ['resource', /\bcredit balance is too low\b|\b(?:insufficient|not enough|out of|no (?:more|remaining)) credits\b/i],
  ['resource', /\bquota (?:has been |was |is )?(?:exceeded|exhausted)\b|\bexceeded your (?:\w{1,20} )?quota\b/i],
];

/**
 * What a refusal (400, 402, 403) says of the account instead of the arguments; undefined where it says no such thing.
 *
 * A departure from O2's letter, by which other 4xx are `invalid_input` and 403 is `permission`: credit that is used up
 * fails every call alike until somebody pays, which is `resource`, as 429 with `insufficient_quota` is; Google's 403
 * `rateLimitExceeded` is `rate_limit`, and its 400 `API_KEY_INVALID` is `permission`. Counted as bad arguments they
 * would never open a circuit.
 */
export function accountCategory(error: unknown, status: number | undefined): ErrorCategory | undefined {
  return status !== undefined && REFUSALS.has(status) ? accountSays(saidOfAccount(error)) : undefined;
}

/** The same of a plain text. */
export function accountSays(text: string): ErrorCategory | undefined {
  return SAYS.find(([, pattern]) => pattern.test(text))?.[0];
}

function saidOfAccount(error: unknown): string {
  const words = BODIES.flatMap((path) => {
    const body = path.reduce(read, error);
    const parts = [body, ...readItems(read(body, 'errors'), 4), ...readItems(read(body, 'details'), 4)];
    return parts.flatMap((part) => WORDS.map((key) => readText(part, key, 100)));
  });
  const texts = BODY_TEXTS.map((path) => readText(path.slice(0, -1).reduce(read, error), path.at(-1) ?? ''));
  return [...words, ...texts].filter((one) => one !== undefined).join('\n');
}
