import { describe, expect, it } from 'vitest';
import { classifyError } from './classify.ts';
import { phraseIn } from './phrases.ts';
import type { ErrorCategory } from './taxonomy.ts';

describe('O2: what libraries say in words alone', () => {
  it.each<[ErrorCategory, readonly string[]]>([
    [
      'permission',
      [
        'Bad credentials',
        'jwt expired',
        'Token expired',
        'API key not found. Set TAVILY_API_KEY',
        'API key is missing',
      ],
    ],
    ['permission', ['Slack API error: invalid_auth']],
    ['cancelled', ['canceled', 'Operation cancelled', 'The operation was cancelled.', 'The user aborted a request.']],
    ['denied', ["The user doesn't want to proceed with this tool use."]],
    [
      'server',
      [
        'no healthy upstream',
        'Target closed',
        'Protocol error (Page.navigate): Target closed',
        'browserType.launch: Target page, context or browser has been closed',
        'Unexpected token \'<\', "<!DOCTYPE "... is not valid JSON',
      ],
    ],
    ['network', ['upstream connect error or disconnect/reset before headers. reset reason: connection failure']],
  ])('O2: %s: %j', (wanted, texts) => {
    for (const text of texts) expect([text, phraseIn(text, 'thrown')?.category]).toEqual([text, wanted]);
  });

  it('O2: and what sounds like it, in the business of a tool', () => {
    for (const text of [
      'The order was cancelled',
      'No API key required',
      'Subscription cancelled by the customer',
      'The sales target closed at nine',
      'Target closed its store in Graz',
      'The gift token expires in May',
      'Unexpected token \'<\', "<answer>" is not valid JSON',
    ]) {
      expect([text, phraseIn(text, 'thrown')]).toEqual([text, undefined]);
    }
  });
});

describe('O2: names of classes', () => {
  it.each<[ErrorCategory, string]>([
    ['permission', 'CredentialsProviderError TokenExpiredError JWTExpired'],
    ['cancelled', 'RequestAbortedError'],
    ['network', 'NoLivingConnectionsError KafkaJSBrokerNotFound'],
    ['server', 'DeserializationError TargetCloseError'],
  ])('O2: %s: %s', (wanted, names) => {
    for (const name of names.split(' ')) {
      expect([name, classifyError(Object.assign(new Error('x'), { name }), { unixMs: 0 }).category]).toEqual([
        name,
        wanted,
      ]);
    }
  });

  it('O2: codes of got and nodemailer', () => {
    for (const [code, wanted] of [
      ['ERR_BODY_PARSE_FAILURE', 'server'],
      ['EENVELOPE', 'invalid_input'],
      ['EAUTH', 'permission'],
    ]) {
      expect(classifyError(Object.assign(new Error('x'), { code }), { unixMs: 0 }).category).toBe(wanted);
    }
  });
});

describe('O2: OpenAI and Anthropic keep no reason', () => {
  it('O2: AbortSignal.timeout is cancelled there, unless the signal is handed over', async () => {
    const error = Object.assign(new Error('Request was aborted.'), { name: 'APIUserAbortError' });
    const signal = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
    expect(classifyError(error, { unixMs: 0 }).category).toBe('cancelled');
    expect(classifyError(error, { unixMs: 0, signal }).category).toBe('timeout');
  });
});
