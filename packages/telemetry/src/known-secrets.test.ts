import { expect, test } from 'vitest';
import { learnSecrets, withoutSecrets } from './known-secrets.ts';

test.each([
  ['a value of a header', 'x-key=sk-1-value', 'no: sk-1-value!', 'no: ***!'],
  ['a value that is percent-encoded, and decoded', 'x-key=sk%2D2%2Dvalue', 'sk%2D2%2Dvalue sk-2-value', '*** ***'],
  ['a value that is no percent-encoding', 'x-key=sk-3-%zz', 'sk-3-%zz', '***'],
  ['a value with a line behind it', 'x-key=Bearer sk-4-value%0A', '"Bearer sk-4-value\n"', '"***\n"'],
  ['a value in JSON', 'x-key=sk-5"value', JSON.stringify({ echo: 'sk-5"value' }), '{"echo":"***"}'],
  ['what is behind the name of a scheme', 'authorization=Bearer sk-6-value', 'token sk-6-value', 'token ***'],
  ['the second of two headers', 'x-a=1, x-key=sk-7-value', 'sk-7-value', '***'],
  ['a key without a name', 'sk-8-value', 'sk-8-value', '***'],
  ['a key in the place of a name, in small letters too', 'Bearer SK-9-value=1', '["bearer sk-9-value"]', '["***"]'],
  ['a value that looks like a pattern', 'x-key=sk-10.*+?^{$}()|[]\\', 'sk-10.*+?^{$}()|[]\\ sk-10xx', '*** sk-10xx'],
])('removes %s', (_, headers, text, expected) => {
  learnSecrets({ OTEL_EXPORTER_OTLP_LOGS_HEADERS: headers });
  expect(withoutSecrets(text)).toBe(expected);
});

test.each([
  ['http://user:pw-1-word@host:4318', 'at http://user:pw-1-word@host:4318, pw-1-word', 'at http://***@host:4318, ***'],
  ['http//user:pw-2-word@host', 'http//user:pw-2-word@host', 'http//***@host'],
  ['http://user:pw/3@word@host:99999/', 'http://user:pw/3@word@host:99999/', 'http://***@host:99999/'],
  ['http://user:pw%2D4%2Dword@host', 'pw-4-word', '***'],
  ['http://token-5@host', 'http://token-5@host', 'http://***@host'],
  ['http://host/v1?api_key=query-6-word', 'http://host/v1?api_key=query-6-word query-6-word', 'http://host/v1?*** ***'],
  ['http://host/v1?a=b&api_key=q%2F7-word', 'q%2F7-word q/7-word', '*** ***'],
])('removes the password of %s', (url, text, expected) => {
  learnSecrets({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url });
  expect(withoutSecrets(text)).toBe(expected);
});

test('keeps short values, so that the log stays legible', () => {
  learnSecrets({ OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=e,c=,d= ,prod,=,e=,', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://@h?' });
  const text = 'Breakerbox telemetry: the last telemetry could not be sent to prod, a=1';
  expect(withoutSecrets(text)).toBe(text);
});

test('keeps a learned secret after its variable is removed', () => {
  learnSecrets({ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=sk-11-value' });
  learnSecrets({});
  expect(withoutSecrets('sk-11-value')).toBe('***');
});
