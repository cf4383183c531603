import { expect, test } from 'vitest';
import { reasonOf, StoreError, withoutAddress } from './reasons.ts';

const networkError = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:6379'), { code: 'ECONNREFUSED' });

test.each([
  [new Error('MOVED 2300 127.0.0.1:37547'), 'cluster', 'MOVED'],
  [new Error("NOPERM User bob has no permissions to run the 'evalsha' command"), 'permission', 'NOPERM'],
  [new Error('ERR Error running script: OOM command not allowed, KEY secret'), 'memory', 'OOM'],
  [new Error('UNKNOWN text about ADMIN'), 'error', 'UNKNOWN'],
  [networkError, 'error', 'ECONNREFUSED'],
  [new Error('no word'), 'error', ''],
  ['no error', 'error', ''],
] as const)('Q2: of %s, a log shows the reason and one word', (error, reason, word) => {
  expect(reasonOf(error)).toBe(reason);
  const shown = withoutAddress(error);
  expect(shown.message).toBe(`The store did not carry out a command: ${reason}${word && `, ${word}`}.`);
  expect(shown.stack).not.toMatch(/37547|bob|secret|ADMIN|10\.0\.0\.7/);
});

test('Q2: an error of the fleet itself is shown as it is', () => {
  const error = new StoreError('timeout', 'Redis did not answer within 1000 ms.');
  expect(withoutAddress(error)).toBe(error);
});
