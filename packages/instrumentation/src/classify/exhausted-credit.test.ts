import type { ErrorCategory } from '@breakerbox/core';
import { describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from '../test-support/classify/verdicts.ts';

const category = (error: unknown) => classifyError(error, { unixMs: 0 }).category;
/** A class by its name: OpenAI's and Anthropic's say PermissionDeniedError of each 403. */
function refusal(status: number, fields: object, name = 'BadRequestError', message = `${status} no`): Error {
  const Named = { [name]: class extends Error {} }[name] as new (message: string) => Error;
  return Object.assign(new Named(message), { status }, fields);
}

const BALANCE = 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.';

/** OpenAI's SDK, by which OpenRouter and DeepSeek are called too: 402 has no class of its own. */
class OpenAIError extends Error {}
class APIError extends OpenAIError {}
const provider = (status: number, message: string) => Object.assign(new APIError(message), { status });

describe('O2: a declined payment is not an outage', () => {
  it('O2: a card that Stripe declines is invalid_input, by any of its words, even with 402', () => {
    const card = (fields: object) => refusal(402, { statusCode: 402, ...fields }, 'Error', 'Insufficient funds.');
    for (const fields of [
      { type: 'StripeCardError', rawType: 'card_error', code: 'expired_card' },
      { type: 'StripeCardError' },
      { rawType: 'card_error' },
      { raw: { type: 'card_error' } },
      { code: 'incorrect_cvc' },
      { code: 'card_declined', decline_code: 'insufficient_funds' },
    ]) {
      expect([fields, category(card(fields))]).toEqual([fields, 'invalid_input']);
    }
    for (const fields of [{ type: 'StripeCardError' }, { rawType: 'card_error' }, { raw: { type: 'card_error' } }]) {
      expect(category(Object.assign(new Error('Your card was declined.'), fields))).toBe('tool_error');
      // From any library, and even if it mentions quotas.
      expect(category(Object.assign(provider(402, 'quota exceeded'), fields))).toBe('invalid_input');
    }
  });

  it('O2: 402 is always resource; words about credit in a 400 count only if they name an account', () => {
    for (const text of ['no', 'Not enough credits', 'Insufficient funds', 'Insufficient Balance']) {
      expect([text, category(provider(402, text))]).toEqual([text, 'resource']);
      expect([text, category(refusal(402, {}, 'HttpError', text))]).toEqual([text, 'resource']);
      expect([text, category(new Error(`HTTP 402: ${text}`))]).toEqual([text, 'resource']);
      expect([text, category(refusal(400, {}, 'HttpError', text))]).toEqual([text, 'invalid_input']);
      expect([text, classifyResult({ error: `HTTP 400: ${text}` }, { unixMs: 0 })?.category]).toEqual([
        text,
        'invalid_input',
      ]);
    }
    expect(category(provider(400, 'Not enough credits on your plan'))).toBe('resource');
    expect(category(provider(400, 'no'))).toBe('invalid_input');
  });

  it('O2: an error code that only accounts have is resource, from any service', () => {
    for (const code of ['insufficient_quota', 'billing_hard_limit_reached', 'credit_balance_too_low']) {
      for (const status of [400, 402, 403]) {
        expect([code, category(refusal(status, { error: { code } }, 'HttpError'))]).toEqual([code, 'resource']);
      }
    }
  });

  it('O2: a 402 of an MCP endpoint is our own account', () => {
    expect(category(refusal(402, { code: 402 }, 'StreamableHTTPError'))).toBe('resource');
  });
});

describe('O2: a rejection that is about the account', () => {
  it.each<[string, ErrorCategory, Error]>([
    [
      'OpenAI 400',
      'resource',
      refusal(400, { code: 'billing_hard_limit_reached', error: { message: 'Billing hard limit has been reached' } }),
    ],
    ['OpenAI 403', 'resource', refusal(403, { error: { type: 'insufficient_quota' } }, 'PermissionDeniedError')],
    [
      'Anthropic 400',
      'resource',
      refusal(400, { error: { type: 'error', error: { type: 'invalid_request_error', message: BALANCE } } }),
    ],
    [
      'Anthropic 403',
      'resource',
      refusal(
        403,
        { error: { type: 'error', error: { type: 'billing_error', message: 'x' } } },
        'PermissionDeniedError',
      ),
    ],
    [
      'AI SDK 400',
      'resource',
      refusal(400, { responseBody: JSON.stringify({ error: { message: BALANCE } }) }, 'AI_APICallError'),
    ],
    [
      'axios 403',
      'resource',
      Object.assign(new Error('x'), {
        response: { status: 403, data: { error: { errors: [{ reason: 'quotaExceeded' }] } } },
      }),
    ],
    [
      'Google 403 too quick',
      'rate_limit',
      Object.assign(new Error('Rate Limit Exceeded'), {
        response: { status: 403, data: { error: { code: 403, errors: [{ reason: 'rateLimitExceeded' }] } } },
      }),
    ],
    [
      'Google 403 too quick, this user',
      'rate_limit',
      Object.assign(new Error('x'), { status: 403, errors: [{ reason: 'userRateLimitExceeded' }] }),
    ],
    ['GitHub 403', 'rate_limit', refusal(403, {}, 'HttpError', 'API rate limit exceeded for user ID 123.')],
    [
      'Google 400',
      'permission',
      refusal(
        400,
        {},
        'ApiError',
        '{"error":{"code":400,"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}',
      ),
    ],
    ['a text', 'resource', new Error(`HTTP 400: ${BALANCE}`)],
    ['a text of 403', 'rate_limit', new Error('HTTP 403: rateLimitExceeded')],
  ])('O2: %s is %s', (_, wanted, error) => {
    expect(category(error)).toBe(wanted);
  });

  it.each<[string, ErrorCategory, Error]>([
    [
      'an address',
      'invalid_input',
      refusal(400, { code: 'billing_address_invalid' }, 'BadRequestError', 'The billing address is required'),
    ],
    ['a credit card', 'invalid_input', refusal(400, {}, 'BadRequestError', 'Invalid credit card number')],
    [
      'a sales quota',
      'invalid_input',
      refusal(400, { code: 'invalid_quota' }, 'BadRequestError', 'quota must be a number'),
    ],
    [
      "a customer's card",
      'invalid_input',
      refusal(402, { type: 'card_error', code: 'card_declined' }, 'StripeCardError'),
    ],
    ['a right', 'permission', refusal(403, { error: { type: 'permission_error' } }, 'PermissionDeniedError')],
    ['another status', 'invalid_input', refusal(404, { error: { type: 'billing_error' } })],
  ])('O2: %s is an answer of the tool', (_, wanted, error) => {
    expect(category(error)).toBe(wanted);
  });
});

it('O2: exhausted credit is `resource` with 402, 400 and 403', () => {
  for (const status of [402, 400, 403]) {
    expect(category(refusal(status, {}, 'PermissionDeniedError', `${status} ${BALANCE}`))).toBe('resource');
  }
});
