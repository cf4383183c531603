import { describe, expect, test } from 'vitest';
import { judgeModelError } from './model-verdict.ts';

const NOW = Date.UTC(2026, 10, 28, 12);

/** As the AI SDK throws it. */
const apiError = (status: number | undefined, body: object | string, headers: Record<string, string> = {}): Error =>
  Object.assign(new Error('Bad answer'), {
    name: 'AI_APICallError',
    statusCode: status,
    responseBody: typeof body === 'string' ? body : JSON.stringify(body),
    responseHeaders: headers,
  });

/** As the SDKs of OpenAI and Anthropic throw it. */
const sdkError = (status: number, error: object, headers: Record<string, string> = {}): Error =>
  Object.assign(new Error(`${status}`), { status, error, headers: new Headers(headers) });

const openai = (code: string, message = 'No.', param: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});
const anthropic = (type: string, message = 'No.') => ({ type: 'error', error: { type, message } });
const gemini = (code: number, status: string, message = 'No.', details: object[] = []) => ({
  error: { code, message, status, details },
});

const judged = (error: unknown) => judgeModelError(error, NOW);

const FAILURE = { outcome: 'failure', next: 'always' };

describe('L3: outages are failures, and the next model is asked', () => {
  test.each([
    ['OpenAI 500', apiError(500, openai('server_error')), 'server'],
    ['OpenAI 503', apiError(503, openai('service_unavailable')), 'server'],
    ['Anthropic 529', apiError(529, anthropic('overloaded_error', 'Overloaded')), 'server'],
    ['Anthropic 529 of its SDK', sdkError(529, anthropic('overloaded_error')), 'server'],
    ['Anthropic 500', apiError(500, anthropic('api_error')), 'server'],
    ['Gemini 503', apiError(503, gemini(503, 'UNAVAILABLE', 'The model is overloaded.')), 'server'],
    ['Gemini 504', apiError(504, gemini(504, 'DEADLINE_EXCEEDED')), 'timeout'],
    ['408', apiError(408, ''), 'timeout'],
    ['Cloudflare 524', apiError(524, '<html>error code: 524</html>'), 'timeout'],
    ['a page of a proxy', apiError(502, '<html><h1>502 Bad Gateway</h1></html>'), 'server'],
    ['the overloaded event of a stream', { type: 'overloaded_error', message: 'Overloaded' }, 'server'],
    ['an error event of OpenAI', { type: 'error', code: 'server_error', message: 'Sorry' }, 'server'],
    ['response.failed', { type: 'response.failed', response: { error: { code: 'server_error' } } }, 'server'],
    ['200 that is no JSON, as text', new SyntaxError('Unexpected token < in JSON'), 'server'],
    [
      'an answer of another format',
      Object.assign(new Error('x', { cause: Object.assign(new Error(), { name: 'ZodError' }) }), {
        name: 'AI_TypeValidationError',
      }),
      'server',
    ],
    ['200 that is no JSON', apiError(200, '{"id": "chatc'), 'server'],
    ['200 with an error in it', apiError(200, { error: { code: 502, message: 'Upstream failed' } }), 'server'],
    ['the model of AWS or Azure failed', apiError(424, { message: 'Failed dependency' }), 'server'],
    ['Groq without capacity', apiError(498, openai('capacity_exceeded')), 'server'],
    ['Google cancels', apiError(499, gemini(499, 'CANCELLED')), 'server'],
    ['Ollama busy', Object.assign(new Error('server busy'), { name: 'ResponseError', status_code: 503 }), 'server'],
    ['OpenRouter in a stream', { code: 502, message: 'Provider disconnected' }, 'server'],
    ['GOAWAY', new TypeError('fetch failed', { cause: { code: 'ERR_HTTP2_GOAWAY_SESSION' } }), 'network'],
    ['refused', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'network'],
    ['reset below fetch', new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }), 'network'],
    ['no answer', apiError(undefined, ''), 'network'],
  ])('%s', (_, error, category) => {
    expect(judged(error)).toMatchObject({ ...FAILURE, category });
    expect(judged(error).blames).toBeUndefined();
  });
});

describe('L3: a rate limit is a failure of the model, with its wait', () => {
  const limited = (headers: Record<string, string>, body: object = openai('rate_limit_exceeded')) =>
    judged(apiError(429, body, headers));

  test.each([
    ['Retry-After in seconds', { 'retry-after': '20' }, 20_000],
    ['Retry-After as a date', { 'retry-after': 'Sat, 28 Nov 2026 12:01:00 GMT' }, 60_000],
    ['a date that is past', { 'retry-after': 'Sat, 28 Nov 2026 11:00:00 GMT' }, undefined],
    ['more than a day', { 'retry-after': '172800' }, 86_400_000],
    ['a month', { 'retry-after': '2592000' }, 86_400_000],
    ['OpenAI requests', { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m30s' }, 90_000],
    ['an empty count', { 'x-ratelimit-remaining-tokens': '', 'x-ratelimit-reset-tokens': '9s' }, undefined],
    ['OpenAI tokens', { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '200ms' }, 200],
    [
      'a limit with something left',
      { 'x-ratelimit-remaining-tokens': '9', 'x-ratelimit-reset-tokens': '9s' },
      undefined,
    ],
    [
      'Anthropic tokens',
      { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '2026-11-28T12:00:45Z' },
      45_000,
    ],
    ['OpenRouter', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW + 30_000}` }, 30_000],
    ['none', {}, undefined],
  ] as [string, Record<string, string>, number | undefined][])('%s', (_, headers, wait) => {
    expect(limited(headers)).toMatchObject({ ...FAILURE, category: 'rate_limit' });
    expect(limited(headers).wait).toBe(wait);
  });

  test("in Gemini's body", () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
    const error = apiError(429, gemini(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', details));
    expect(judged(error)).toMatchObject({ ...FAILURE, category: 'rate_limit', wait: 34_500 });
  });

  test("Gemini's quota of a day is used up, of this model alone", () => {
    const details = [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] }];
    const verdict = judged(apiError(429, gemini(429, 'RESOURCE_EXHAUSTED', 'You exceeded your quota', details)));
    expect(verdict).toMatchObject({ ...FAILURE, category: 'resource', wait: 'longest' });
    expect(verdict.blames).toBeUndefined();
  });
});

describe('L3: credit and keys blame the provider, for all of its models', () => {
  test.each([
    ['OpenAI insufficient_quota', apiError(429, openai('insufficient_quota')), 'resource'],
    ['OpenAI insufficient_quota of its SDK', sdkError(429, { code: 'insufficient_quota' }), 'resource'],
    ['402', apiError(402, { error: { message: 'Insufficient credits', code: 402 } }), 'resource'],
    [
      'Anthropic credit',
      apiError(400, anthropic('invalid_request_error', 'Your credit balance is too low')),
      'resource',
    ],
    ['OpenAI 401', apiError(401, openai('invalid_api_key', 'Incorrect API key provided: sk-…')), 'permission'],
    ['Anthropic 401', apiError(401, anthropic('authentication_error', 'invalid x-api-key')), 'permission'],
    [
      'Gemini API_KEY_INVALID',
      apiError(400, gemini(400, 'INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }])),
      'permission',
    ],
    [
      'Anthropic limit of spending',
      apiError(400, anthropic('invalid_request_error', 'You have reached your specified API usage limits.')),
      'resource',
    ],
    [
      'Anthropic organization',
      apiError(400, anthropic('invalid_request_error', 'This organization has been disabled.')),
      'permission',
    ],
    ['xAI key', apiError(400, { code: 'x', error: 'Incorrect API key provided: xa***.' }), 'permission'],
    ['AWS token', apiError(400, { message: 'The security token included in the request is expired' }), 'permission'],
    ['a missing key', Object.assign(new Error('API key is missing'), { name: 'AI_LoadAPIKeyError' }), 'permission'],
  ])('%s', (_, error, category) => {
    expect(judged(error)).toMatchObject({ ...FAILURE, category, blames: 'group' });
  });
});

describe('L3: the model alone', () => {
  test.each([
    ['OpenAI 403', apiError(403, openai('unsupported_country_region_territory')), 'permission'],
    ['Anthropic 403', apiError(403, anthropic('permission_error')), 'permission'],
    ['OpenAI 404', apiError(404, openai('model_not_found', 'The model `gpt-9` does not exist')), 'unusable'],
    ['Anthropic 404', apiError(404, anthropic('not_found_error', 'model: claude-1')), 'unusable'],
    [
      'Gemini 404',
      apiError(404, gemini(404, 'NOT_FOUND', 'models/gemini-0 is not found for API version v1beta')),
      'unusable',
    ],
    ['Azure 404', apiError(404, { error: { code: 'DeploymentNotFound', message: 'No.' } }), 'unusable'],
    ['Ollama 404', Object.assign(new Error("model 'x' not found"), { status_code: 404 }), 'unusable'],
    ['AWS 400', apiError(400, { message: 'The provided model identifier is invalid.' }), 'unusable'],
    ['Gemini elsewhere', apiError(400, gemini(400, 'X', 'User location is not supported')), 'permission'],
    ['AWS quota', Object.assign(new Error('x'), { name: 'ServiceQuotaExceededException' }), 'resource'],
    ['Groq: decommissioned', apiError(400, openai('model_decommissioned')), 'unusable'],
    [
      'Groq: decommissioned, by LangChain',
      sdkError(400, { message: '400 The model `m` has been decommissioned and is no longer supported.' }),
      'unusable',
    ],
    ['Mistral', apiError(400, { message: 'Invalid model: m', type: 'invalid_model', code: '1500' }), 'unusable'],
    ['Together', apiError(400, openai('model_not_available')), 'unusable'],
    ['OpenRouter', apiError(400, { error: { message: 'x/m:free is not a valid model ID', code: 400 } }), 'unusable'],
    ['LiteLLM', apiError(400, { error: { message: 'Invalid model name passed in model=m', code: 400 } }), 'unusable'],
    ['DeepSeek', apiError(400, openai('invalid_request_error', 'Model Not Exist')), 'unusable'],
    ['410', apiError(410, { error: 'This model was retired.' }), 'unusable'],
  ])('%s', (_, error, category) => {
    expect(judged(error)).toMatchObject({ ...FAILURE, category });
    expect(judged(error).blames).toBeUndefined();
  });
});

describe('L3: the request, and no failure', () => {
  test.each([
    ['OpenAI: too long', apiError(400, openai('context_length_exceeded')), 'too long'],
    [
      'Anthropic: too long',
      apiError(400, anthropic('invalid_request_error', 'prompt is too long: 9 tokens')),
      'too long',
    ],
    [
      'Gemini: too long',
      apiError(400, gemini(400, 'INVALID_ARGUMENT', 'The input token count (9) exceeds the maximum')),
      'too long',
    ],
    ['Anthropic: too large', apiError(413, anthropic('request_too_large')), 'too long'],
    ['content filter', apiError(400, openai('content_filter')), 'never'],
    ['moderation of OpenRouter', apiError(403, { error: { code: 403, message: 'Your input was flagged' } }), 'never'],
    ['an item of the history', apiError(404, openai('', "Item with id 'rs_1' not found.", 'input')), 'as fallback'],
    ['an earlier response', apiError(400, openai('previous_response_not_found')), 'as fallback'],
    ['another 400', apiError(400, anthropic('invalid_request_error', 'temperature: range: 0..1')), 'as fallback'],
    ['422', apiError(422, { detail: 'Unprocessable' }), 'as fallback'],
    ['an unsupported feature', Object.assign(new Error(), { name: 'AI_UnsupportedFunctionalityError' }), 'as fallback'],
    ['Zod', Object.assign(new Error(), { name: '$ZodError', issues: [] }), 'never'],
    ['LangChain: no output of the schema', Object.assign(new Error(), { name: 'OutputParserException' }), 'never'],
    [
      'AI SDK: no object of the schema',
      Object.assign(
        new Error('No object generated', { cause: Object.assign(new Error(), { name: 'AI_JSONParseError' }) }),
        {
          name: 'AI_NoObjectGeneratedError',
        },
      ),
      'never',
    ],
    ['Anthropic: parse()', new Error('Failed to parse structured output: SyntaxError: …'), 'never'],
    ['an invalid prompt', Object.assign(new Error(), { name: 'AI_InvalidPromptError' }), 'never'],
  ])('%s', (_, error, next) => {
    expect(judged(error)).toMatchObject({ outcome: 'ignored', next });
  });
});

test('L3: an error that nothing explains is weak evidence, and the next model is asked', () => {
  expect(judged(new Error('boom'))).toMatchObject({ ...FAILURE, category: 'unknown' });
});

test('L3: anything may be thrown', () => {
  const hostile = new Proxy({}, { get: () => { throw new Error('no'); } }); // biome-ignore format: one line
  for (const error of [undefined, null, 0, '', 'text', hostile, Symbol('x'), [], new Proxy([], {})]) {
    expect(judged(error).outcome).toBe('failure');
  }
});
