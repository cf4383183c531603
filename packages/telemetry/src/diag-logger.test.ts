import { beforeEach, expect, test } from 'vitest';
import { diagLogger } from './diag-logger.ts';
import { learnSecrets } from './known-secrets.ts';

let logged: unknown[][] = [];
beforeEach(() => {
  logged = [];
});
const take = (...words: unknown[]): void => void logged.push(words);
const logger = diagLogger({ error: take, warn: take, info: take, debug: take, verbose: take });

const refuse = (): never => {
  throw new Error('not to be asked');
};

class Evil extends Error {
  override readonly name = 'Evil';
  readonly code = 'E_VIL';
  override get message(): string {
    throw this;
  }
}

test.each([
  ['texts as they are', ['the port is taken', 7, true], ['the port is taken', 7, true]],
  [
    'an error by name, message and code',
    [Object.assign(new TypeError('no'), { code: 'E_NO', data: 'sk-1' })],
    ['TypeError: no (E_NO)'],
  ],
  ['an error without words by its name', [new AggregateError([new Error('sk-1')])], ['AggregateError']],
  [
    'an error that was made JSON of as well',
    [JSON.stringify({ stack: 'sk-1', message: 'Unauthorized', code: '401', name: 'OTLPExporterError', data: 'sk-1' })],
    ['OTLPExporterError: Unauthorized (401)'],
  ],
  [
    'an HTTP status in the words of HTTP',
    [new Error('metrics export failed (error OTLPExporterError: Unauthorized)')],
    ['Error: metrics export failed (error OTLPExporterError: Unauthorized)'],
  ],
  [
    'an HTTP status without the words of a backend',
    [
      Object.assign(new Error('no: sk-1'), { name: 'OTLPExporterError', code: 401 }),
      JSON.stringify({ stack: 'sk-1', message: 'no: sk-1', code: '401', name: 'OTLPExporterError' }),
      new Error('metrics export failed (error OTLPExporterError: no:\nsk-1)'),
      'Export failed with non-retryable error: OTLPExporterError: Unauthorized: sk-1',
    ],
    [
      'OTLPExporterError… (401)',
      'OTLPExporterError… (401)',
      'Error: metrics export failed (error OTLPExporterError…',
      'Export failed with non-retryable error: OTLPExporterError…',
    ],
  ],
  [
    'a gRPC status without the words of a backend',
    [
      Object.assign(new Error('16 UNAUTHENTICATED: no: sk-1'), { code: 16 }),
      new Error('metrics export failed (error Error: 1e+21 undefined: sk-1)'),
    ],
    ['Error: 16 UNAUTHENTICATED… (16)', 'Error: metrics export failed (error Error: 1e+21 undefined…'],
  ],
  [
    'a partial success alone',
    ['Received Partial Success response:', 'sk-1', {}],
    ['Received Partial Success response'],
  ],
  ['other JSON as it is', ['{"a":1}', '{', 'null'], ['{"a":1}', '{', 'null']],
  ['nothing of other values', [{ secret: 'sk-1' }, ['sk-1'], () => 'sk-1'], ['[object]', '[object]', '[function]']],
  ['no word that is no text', [Object.assign(new Error('no'), { code: Object.create(null), name: {} })], ['Error: no']],
  ['what can be read of an error whose words throw', [new Evil()], ['Evil (E_VIL)']],
  ['nothing of what throws at every question', [new Proxy(new Error('no'), { getPrototypeOf: refuse })], ['[object]']],
  ['no lines of others', [new Error('one\nERROR two'), 'a\nb\u2028c'], ['Error: one\\nERROR two', 'a\\nb\\u2028c']],
  ['no text that is turned round', ['a\u202eb\u2066'], ['a\\u202eb\\u2066']],
  ['no control characters', ['a\u001b[31mb\r\n\u0000c\u009b'], ['a\\x1b[31mb\\x0d\\n\\x00c\\x9b']],
])('logs %s', (_, words, expected) => {
  logger.error('it happened', ...words);
  expect(logged).toEqual([['it happened', ...expected]]);
});

test('logs no more than can be read', () => {
  logger.error('x'.repeat(1_000_000), new Error('y'.repeat(1_000_000)));
  expect(logged[0]?.map((word) => String(word).length)).toEqual([2_001, 2_001]);
});

test('logs no known secret, nor half of one if a text is cut', () => {
  learnSecrets({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer sk-of-this-test' });
  const until = 'x'.repeat(1_990);
  logger.error('no: Bearer sk-of-this-test', new Error(`${until} sk-of-this-test`), `${until} sk-of-this-test`);
  expect(logged[0]?.[0]).toBe('no: ***');
  expect(logged.flat().join()).not.toContain('sk-o');
});
