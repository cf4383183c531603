import { isModelProvider } from './providers.ts';
import type { ErrorCategory } from './taxonomy.ts';
import { read, readItems, readNames, readText } from './untrusted.ts';

/** Statuses by which providers say that an account is empty, a key is wrong, or a caller too quick: any of them, at will. */
const REFUSALS: ReadonlySet<number> = new Set([400, 402, 403]);

/** Where the body of an answer is kept: OpenAI, Anthropic; axios, gaxios; AI SDK; got, Elasticsearch; Stripe. */
const BODIES: readonly (readonly string[])[] = [
  [],
  ['error'],
  ['error', 'error'],
  ['response', 'data'],
  ['response', 'data', 'error'],
  ['data'],
  ['data', 'error'],
  ['raw'],
];
const BODY_TEXTS: readonly (readonly string[])[] = [
  ['message'],
  ['error', 'message'],
  ['error', 'error', 'message'],
  ['responseBody'],
  ['response', 'data'],
  ['response', 'body'],
];
const WORDS = ['type', 'rawType', 'code', 'decline_code', 'reason', 'status'] as const;

/** A customer's card, by the words of Stripe, which answers 402 for it: an answer, whatever else is said. */
const CARD =
  /\b(?:StripeCardError|card_(?:error|declined)|expired_card|(?:incorrect|invalid)_(?:cvc|number|zip|pin|expiry_(?:month|year)))\b/;

/** Codes and sentences of providers alone. A billing address, a credit card or a sales quota is the business of a tool. */
const SAYS: readonly (readonly [ErrorCategory, RegExp])[] = [
  ['invalid_input', CARD],
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
  ['resource', /\b(?:insufficient_(?:quota|credits?)|(?:quota|daily_?limit)_?exceeded|exceeded_quota)\b/i],
  ['resource', /\bcredits?_(?:exhausted|exceeded|required|depleted)\b/i],
  ['resource', /\bcredit_balance_(?:too_low|exhausted|depleted|insufficient)\b/i],
  ['resource', /\byour credit balance is too low to access the Anthropic API\b/i],
];

/** What providers say in words that shops, banks and games say of their customers: believed of a provider, and of 403. */
const PROSE: readonly RegExp[] = [
  /\bbilling (?:hard )?limit (?:has been |was )?reached\b|\bbilling (?:is )?(?:not active|disabled)\b/i,
  /\binsufficient[ _]balance\b|\bcredit balance is too low\b/i,
  /\b(?:insufficient|not enough|out of|no (?:more|remaining)) credits\b/i,
  /\bquota (?:has been |was |is )?(?:exceeded|exhausted)\b|\bexceeded your (?:\w{1,20} )?quota\b/i,
];

/**
 * What a refusal (400, 402, 403) says of the account instead of the arguments; undefined where it says no such thing.
 *
 * A departure from O2's letter, by which other 4xx are `invalid_input` and 403 is `permission`: credit that is used up
 * fails every call alike until somebody pays, which is `resource`, as 429 with `insufficient_quota` is; Google's 403
 * `rateLimitExceeded` is `rate_limit`, and its 400 `API_KEY_INVALID` is `permission`. Counted as bad arguments they
 * would never open a circuit. So are words such as 'not enough credits', and a 402 that says nothing, but of a model
 * provider alone: of any other client they are O2's bad arguments, for they speak of a customer as often as of us.
 */
export function accountCategory(error: unknown, status: number | undefined): ErrorCategory | undefined {
  if (status === undefined) return isCard(error) ? 'invalid_input' : undefined;
  if (!REFUSALS.has(status)) return undefined;
  const provider = isModelProvider(error);
  const said = accountSays(saidOfAccount(error), provider || status === 403);
  return said ?? (provider && status === 402 ? 'resource' : undefined);
}

/** The same of a plain text. `prose` says whether words count that a customer's account may be meant by. */
export function accountSays(text: string, prose: boolean): ErrorCategory | undefined {
  const said = SAYS.find(([, pattern]) => pattern.test(text))?.[0];
  return said ?? (prose && PROSE.some((pattern) => pattern.test(text)) ? 'resource' : undefined);
}

/** Stripe's errors lose their status where they are copied. */
function isCard(error: unknown): boolean {
  const types = [
    readText(error, 'type', 100),
    readText(error, 'rawType', 100),
    readText(read(error, 'raw'), 'type', 100),
  ];
  return [...readNames(error), ...types].some((type) => type === 'StripeCardError' || type === 'card_error');
}

function saidOfAccount(error: unknown): string {
  const words = BODIES.flatMap((path) => {
    const body = path.reduce(read, error);
    const parts = [body, ...readItems(read(body, 'errors'), 4), ...readItems(read(body, 'details'), 4)];
    return parts.flatMap((part) => WORDS.map((key) => readText(part, key, 100)));
  });
  const texts = BODY_TEXTS.map((path) => readText(path.slice(0, -1).reduce(read, error), path.at(-1) ?? ''));
  return [...readNames(error), ...words, ...texts].filter((one) => one !== undefined).join('\n');
}
