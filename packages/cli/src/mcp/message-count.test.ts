import { expect, test } from 'vitest';
import { MessageCount } from './message-count.ts';

const MESSAGE = '{"a":["\\"],[{}",1,[{},{}],"\\\\"],"b":",,,"}';

/** What there is too much of in a text that comes in pieces. */
const excess = (text: string, pieceLength: number): string | undefined => {
  const count = new MessageCount();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceLength) count.push(bytes.subarray(at, at + pieceLength));
  return count.excess;
};

test('M2: messages of a batch are counted, wherever its bytes are divided', () => {
  for (const pieceLength of [1, 2, 3, 7, 100_000]) {
    expect(excess(`\n [${Array.from({ length: 1_000 }, () => MESSAGE).join(' ,')}]`, pieceLength)).toBeUndefined();
    expect(excess(`[${Array.from({ length: 1_001 }, () => MESSAGE).join()}]`, pieceLength)).toContain('1000 messages');
  }
});

test('M2: members of one message are no messages', () => {
  expect(excess(`{${Array.from({ length: 2_000 }, (_, n) => `"k${n}":[1,2]`).join()}}`, 1_000)).toBeUndefined();
});

test('M2: values and members have bounds, and strings do not count', () => {
  expect(excess(`{"a":"${',:[{'.repeat(500_000)}","b":[${'1,'.repeat(399_000)}1]}`, 60_000)).toBeUndefined();
  expect(excess(`{"b":[${'1,'.repeat(400_000)}1]}`, 60_000)).toContain('400000 values');
  expect(excess(`[${'{"a":1},'.repeat(100)}${`{"b":{${'"c":1,'.repeat(100_000)}"c":1}}`}]`, 60_000)).toContain(
    'members',
  );
});
