import type { ErrorCategory } from '@breakerbox/core';
import { read, readText } from '@breakerbox/core/internal';
import { readThrown } from '../classify/classify.ts';
import { type ModelErrorFacts, readModelError } from './model-error-facts.ts';
import { modelWait } from './model-wait.ts';

/** What an error of a model means (L3). */
export interface ModelVerdict {
  readonly outcome: 'failure' | 'ignored';
  readonly category: ErrorCategory;
  /** The provider or its key fails, for all of its models: their circuit opens at once. */
  readonly blames?: 'group';
  /** Milliseconds that the provider asks to wait. `longest`: as long as its circuit allows, because only a person can change it. */
  readonly wait?: number | 'longest' | undefined;
  /**
   * Whether the next model is asked: `always`, only if this model is a fallback, because another one may accept the request
   * (`as fallback`), or only with `onContextTooLong: 'next'` (`too long`).
   */
  readonly next: 'always' | 'as fallback' | 'too long' | 'never';
  readonly status: number | undefined;
}

type Ruling = Omit<ModelVerdict, 'status'>;
type Rule = (facts: ModelErrorFacts, unixMs: number) => Ruling | false;

const fails = (category: ErrorCategory, more: Partial<Ruling> = {}): Ruling => ({
  outcome: 'failure',
  category,
  next: 'always',
  ...more,
});

const ignored = (next: Ruling['next'], category: ErrorCategory = 'invalid_input'): Ruling => ({
  outcome: 'ignored',
  category,
  next,
});

const has = ({ codes }: ModelErrorFacts, ...some: readonly string[]): boolean => some.some((one) => codes.has(one));

const hasName = ({ names }: ModelErrorFacts, pattern: RegExp): boolean => [...names].some((name) => pattern.test(name));

const isClient = ({ status = 0 }: ModelErrorFacts): boolean => status >= 400 && status < 500;

/** The rows of L3, in the order in which they are asked. */
const RULES: readonly Rule[] = [
  function missingKey(facts) {
    const isMissing =
      hasName(facts, /LoadAPIKeyError|LoadSettingError/) ||
      (facts.status === undefined &&
        /missing credentials|could not resolve authentication|api key is missing/.test(facts.text));
    return isMissing && fails('permission', { blames: 'group', wait: 'longest' });
  },
  function unsupported(facts) {
    return hasName(facts, /UnsupportedFunctionality|UnsupportedModelVersion/) && ignored('as fallback');
  },
  function ownMistake(facts) {
    return hasName(facts, /InvalidPromptError|InvalidArgumentError/) && ignored('never');
  },
  // The client has read the whole answer, and it is not what the caller asked for. Another error may have one of these as its cause.
  function notOfSchema(facts) {
    const isMisfit =
      MISFIT.test(facts.name) || facts.isParsed || facts.text.startsWith('failed to parse structured output');
    if (facts.status !== undefined || !isMisfit) return false;
    return ignored('never', facts.name === 'ContentFilterFinishReasonError' ? 'denied' : 'invalid_input');
  },
  function usedUpCredit(facts) {
    const isCredit =
      has(facts, 'insufficient_quota', 'billing_hard_limit_reached', 'billing_error', 'billing_not_active') ||
      facts.status === 402 ||
      (facts.status === 400 && /credit balance|reached your specified api usage limits/.test(facts.text));
    return isCredit && fails('resource', { blames: 'group', wait: 'longest' });
  },
  function usedUpQuota(facts) {
    return hasName(facts, /^ServiceQuotaExceeded/) && fails('resource', { wait: 'longest' });
  },
  function badKey(facts) {
    const isKey =
      facts.status === 401 ||
      has(facts, 'api_key_invalid', 'invalid_api_key') ||
      (facts.status === 400 && BAD_KEY.test(facts.text));
    return isKey && fails('permission', { blames: 'group' });
  },
  function contentFilter(facts) {
    const isFiltered =
      has(facts, 'content_filter', 'content_policy_violation', 'responsibleaipolicyviolation', 'moderation_blocked') ||
      (facts.status === 403 && /moderation|flagged/.test(facts.text));
    return isFiltered && isClient(facts) && ignored('never', 'denied');
  },
  function tooLong(facts) {
    const isTooLong =
      has(facts, 'context_length_exceeded', 'request_too_large', 'string_above_max_length') ||
      facts.status === 413 ||
      ((facts.status === 400 || facts.status === 422) && TOO_LONG.test(facts.text));
    return isTooLong && ignored('too long');
  },
  function rateLimit(facts, unixMs) {
    if (facts.status !== 429) return false;
    const wait = modelWait(facts, unixMs);
    const isOfDay = facts.details.some(isPerDay);
    return isOfDay ? fails('resource', { wait: wait ?? 'longest' }) : fails('rate_limit', { wait });
  },
  function forbidden(facts) {
    const isElsewhere = facts.status === 400 && facts.text.includes('location is not supported');
    return (facts.status === 403 || isElsewhere) && fails('permission');
  },
  function goneModel(facts) {
    const isUnknown = has(facts, ...GONE) || (facts.status === 400 && GONE_TEXT.test(facts.text));
    if (facts.status !== 404 && facts.status !== 410 && !isUnknown) return false;
    const isItem =
      has(facts, 'previous_response_not_found', 'item_not_found', 'conversation_not_found') ||
      /previous_response|^input|conversation|messages/.test(facts.param) ||
      /\b(?:item|response|conversation|file|container) (?:with )?(?:id )?['"`]?[a-z]+_/.test(facts.text);
    return isItem ? ignored('as fallback') : fails('unusable', { wait: 'longest' });
  },
  function timeout(facts, unixMs) {
    const isSlow = facts.status === 408 || facts.status === 504 || facts.status === 524;
    return isSlow && fails('timeout', { wait: modelWait(facts, unixMs) });
  },
  function broken(facts, unixMs) {
    const isBroken = facts.status !== undefined && (facts.status >= 500 || OUTAGES.has(facts.status));
    return isBroken && fails('server', { wait: modelWait(facts, unixMs) });
  },
  function otherClientError(facts) {
    return isClient(facts) && ignored('as fallback');
  },
  // An answer that cannot be read: the status says that it worked.
  function unreadable(facts) {
    const isUnreadable =
      (facts.isHttp && (facts.status ?? 0) < 400) ||
      hasName(facts, /JSONParse|TypeValidation|InvalidResponseData|NoContentGenerated|EmptyResponseBody|SyntaxError/);
    return isUnreadable && fails('server');
  },
];

/** Structured output that is cut short, filtered, no JSON, or not of its schema: of OpenAI, Zod, LangChain, the AI SDK. */
const MISFIT =
  /^(?:LengthFinishReasonError|ContentFilterFinishReasonError|\$?Zod(?:Real)?Error|OutputParserException|AI_NoObjectGeneratedError)$/;

/** 424: the model of AWS or Azure failed. 498: Groq has no capacity. 499: Google cancelled the call. */
const OUTAGES: ReadonlySet<number> = new Set([424, 498, 499]);

/** xAI, Google, AWS and Anthropic answer 400 for a key, a token or an organization that they refuse. */
const BAD_KEY =
  /api[_ ]key (?:is )?(?:not valid|invalid|expired)|(?:incorrect|invalid) api[_ ]key|security token included in the request is (?:expired|invalid)|organization has been disabled/;

const TOO_LONG =
  /prompt is too long|maximum context length|context window|context length|too many (?:input )?tokens|token count .*exceeds|input is too long|reduce the length/;

/** A model that the provider does not have, or no longer: of OpenAI, Groq, Mistral and Together, with 400 or 404. */
const GONE = ['model_not_found', 'model_decommissioned', 'model_not_available', 'invalid_model'];

/** The same by AWS and LM Studio, Groq, OpenRouter, LiteLLM, DeepSeek. */
const GONE_TEXT =
  /model identifier is invalid|invalid model identifier|has been decommissioned|is not a valid model id|invalid model name|model not exist/;

/** Google names the quota: `violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }]`. */
const isPerDay = (detail: unknown): boolean => {
  const violations = read(detail, 'violations');
  const quotas = Array.isArray(violations) ? violations.slice(0, 100) : [];
  return quotas.some((one) =>
    ['quotaId', 'quotaMetric', 'subject'].some((key) => /PerDay/.test(`${readText(one, key)}`)),
  );
};

/** L3: what an error of a model's provider means. May throw for an error that cannot be read. `unixMs` is the time now. */
export const judgeModelError = (error: unknown, unixMs: number): ModelVerdict => {
  const facts = readModelError(error);
  const { status } = facts;
  for (const rule of RULES) {
    const ruling = rule(facts, unixMs);
    if (ruling !== false) return { ...ruling, status };
  }
  return { ...withoutAnswer(error, facts), status };
};

/** No answer came. The classifier of tools knows the errors of networks. */
const withoutAnswer = (error: unknown, facts: ModelErrorFacts): Ruling => {
  const { category } = readThrown(error, { tool: '' });
  if (category === 'network' || category === 'timeout' || category === 'server') return fails(category);
  if (hasName(facts, /APICallError|APIConnectionError/)) return fails('network');
  // Such as a fault in the program. It may be the provider's as well, so it counts half (O6).
  return fails('unknown');
};

/** L3: the stream ended before its model had finished. */
export const CUT: ModelVerdict = { ...fails('network'), status: undefined };

/** L4: the model was silent for longer than its limit. */
export const TOO_SLOW: ModelVerdict = { ...fails('timeout'), status: undefined };

/** L3: an answer that has nothing in it. */
export const EMPTY: ModelVerdict = { ...fails('server'), status: undefined };

/** L3: an error that cannot be read, such as a revoked proxy. */
export const UNREADABLE: ModelVerdict = { ...fails('unknown'), status: undefined };

/** A function of the caller failed, not the model. */
export const OWN_MISTAKE: ModelVerdict = { ...ignored('never'), status: undefined };

/** The caller left. Nothing is known about the model. */
export const LEFT: ModelVerdict = { ...ignored('never', 'cancelled'), status: undefined };
