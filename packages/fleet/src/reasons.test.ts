import { expect, test } from 'vitest';
import { reasonOf, StoreError, withoutAddress } from './reasons.ts';

const networkError = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:6379'), { code: 'ECONNREFUSED' });

test.each([
  [new Error('MOVED 2300 127.0.0.1:37547'), 'cluster', 'MOVED'],
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

test.each([
  ["NOPERM User bob has no permissions to run the 'evalsha' command", 'EVALSHA'],
  [
    "ERR The user executing the script can't run this command or subcommand (HSET) script: 1f, on @user_script:9.",
    'HSET',
  ],
  [
    "ERR ACL failure in script: User bob has no permissions to run the 'pubsub|shardnumsub' command (PUBSUB)",
    'PUBSUB|SHARDNUMSUB',
  ],
])('Q2: of %s, a log shows the command that the user may not run', (text, command) => {
  const error = new Error(text);
  expect(reasonOf(error)).toBe('permission');
  expect(withoutAddress(error).message).toBe(
    `The store did not carry out a command: permission, NOPERM. The Redis user may not run ${command}. docs/fleet.md has all commands that it needs.`,
  );
});

test('Q2: an error of the fleet itself is shown as it is', () => {
  const error = new StoreError('timeout', 'Redis did not answer within 1000 ms.');
  expect(withoutAddress(error)).toBe(error);
});
