import { beforeEach, expect, test } from 'vitest';
import { diagLogger } from './diag-logger.ts';

let told: unknown[][] = [];
beforeEach(() => {
  told = [];
});
const take = (...words: unknown[]): void => void told.push(words);
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
  ['other JSON as it is', ['{"a":1}', '{', 'null'], ['{"a":1}', '{', 'null']],
  ['nothing of other values', [{ secret: 'sk-1' }, ['sk-1'], () => 'sk-1'], ['[object]', '[object]', '[function]']],
  ['no word that is no text', [Object.assign(new Error('no'), { code: Object.create(null), name: {} })], ['Error: no']],
  ['what can be read of an error whose words throw', [new Evil()], ['Evil (E_VIL)']],
  ['nothing of what throws at every question', [new Proxy(new Error('no'), { getPrototypeOf: refuse })], ['[object]']],
  ['no lines of others', [new Error('one\nERROR two')], ['Error: one\\nERROR two']],
  ['no control characters', ['a\u001b[31mb\r\n\u0000c\u009b'], ['a\\x1b[31mb\\x0d\n\\x00c\\x9b']],
])('tells %s', (_, words, expected) => {
  logger.error('it happened', ...words);
  expect(told).toEqual([['it happened', ...expected]]);
});

test('tells no more than can be read', () => {
  logger.error('x'.repeat(1_000_000), new Error('y'.repeat(1_000_000)));
  expect(told[0]?.map((word) => String(word).length)).toEqual([2_001, 2_001]);
});
