import { expect, test } from 'vitest';
import { type Fit, frameChecker } from './frames.ts';

const LENGTHS = [1, 2, 7, 1_000_000];

/** What a checker found in a text that comes in pieces of so many bytes. */
const found = (
  text: string,
  length: number,
  fit?: Fit,
  hasSlots?: boolean,
): readonly [parts: number, answers: number] => {
  const bytes = Buffer.from(text);
  const framesIn = frameChecker(fit, hasSlots);
  const sum: [number, number] = [0, 0];
  for (let from = 0; from < bytes.length; from += length) {
    const { parts, answers } = framesIn(bytes.subarray(from, from + length));
    sum[0] += parts;
    sum[1] += answers;
  }
  return sum;
};

const TEXTS: readonly (readonly [string, number, number])[] = [
  ['*2\r\n:1\r\n+OK\r\n', 3, 1],
  ['$5\r\n\r\n\r\n:\r\n:1\r\n', 2, 2], // The string has line ends of its own.
  ['$0\r\n\r\n$-1\r\n_\r\n*0\r\n%1\r\n:-5\r\n#t\r\n', 7, 5],
  ['*2\r\n*1\r\n*2\r\n:1\r\n*-1\r\n$2\r\nab\r\n:7\r\n', 7, 2],
  ['=15\r\ntxt:some string\r\n!5\r\nERR \n\r\n', 21, 2],
  [`-${'x'.repeat(100)}\r\n:1\r\n`, 21, 2],
  ['>3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$1\r\nx\r\n:1\r\n', 5, 1],
  ['$900000000\r\n:1\r\n:1\r\n', 1, 1],
];

test.each(TEXTS)('G7: %j has %i parts and %i answers, however it is cut', (text, parts, answers) => {
  for (const length of LENGTHS) expect(found(text, length)).toEqual([parts, answers]);
});

const MESSAGE = '>3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$1\r\nx\r\n';

test.each<readonly [string, Fit, boolean]>([
  ['(1\r\n', 'any', false],
  [',1.5\r\n', 'any', false],
  ['|1\r\n', 'any', false],
  [`:${'9'.repeat(40)}`, 'any', false],
  [`+${'x'.repeat(70_000)}`, 'any', false],
  [`-${'x'.repeat(70_000)}`, 'any', false],
  ['!70000\r\n', 'any', false],
  ['@\r\n', 'any', false],
  ['>2\r\n_\r\n_\r\n', 'any', true],
  ['>2\r\n_\r\n_\r\n', 'answers', false],
  ['>1\r\n_\r\n', 'messages', false],
  [MESSAGE, 'answers', false],
  [MESSAGE, 'messages', true],
  [MESSAGE.replace('>', '*'), 'messages', true],
  ['>3\r\n+smessage\r\n+c\r\n*0\r\n', 'messages', false],
  ['>2\r\n+smessage\r\n+c\r\n', 'messages', false],
  ['>3\r\n+smessage\r\n_\r\n+x\r\n', 'messages', false],
  ['*1\r\n_\r\n', 'messages', false],
  ['*0\r\n', 'messages', false],
  ['$-1\r\n', 'messages', false],
  [':1\r\n', 'messages', false],
  ['$1\r\nx\r\n', 'messages', false],
  ['=5\r\ntxt:x\r\n', 'messages', false],
  ['=8\r\ntxt:# Se\r\n', 'messages', true],
  ['*2\r\n=8\r\ntxt:# Se\r\n+x\r\n', 'messages', false],
  ['+OK\r\n-ERR x\r\n%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n', 'messages', true],
  ['*3\r\n:1\r\n*0\r\n_\r\n$-1\r\n', 'answers', true],
  ['>2\r\n+MOVING\r\n*1\r\n_\r\n', 'answers', true],
])('G7: %j as %s is read: %s', (text, fit, isRead) => {
  for (const length of LENGTHS) {
    const read = expect(() => found(text, length, fit));
    if (isRead) read.not.toThrow();
    else read.toThrow('Redis sent');
  }
});

const SENTINELS = '*2\r\n*4\r\n+name\r\n+a\r\n+ip\r\n+h\r\n%1\r\n+name\r\n+b\r\n';

test.each<readonly [string, boolean]>([
  ['*1\r\n*3\r\n:0\r\n:16383\r\n*4\r\n+h\r\n:1\r\n+id\r\n*2\r\n+a\r\n+b\r\n', true],
  ['*1\r\n*2\r\n:0\r\n:100001\r\n', false],
  ['*1\r\n*2\r\n_\r\n:100001\r\n', false],
  ['*2\r\n*2\r\n:0\r\n:60000\r\n*2\r\n:0\r\n:60000\r\n', false],
  ['*1\r\n*2\r\n+0\r\n+999999\r\n', false],
  ['~1\r\n~2\r\n:0\r\n$6\r\n999999\r\n', false],
  ['*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n%0\r\n:1\r\n', false],
  ['*3\r\n+x\r\n*4\r\n$1\r\nc\r\n:20000\r\n$1\r\nd\r\n:20000\r\n:90000\r\n', true],
  [SENTINELS, false],
])('G7: %j is read where no slots are asked for, and as slots: %s', (text, isRead) => {
  for (const length of LENGTHS) {
    expect(() => found(text, length, 'answers')).not.toThrow();
    const read = expect(() => found(text, length, 'any', true));
    if (isRead) read.not.toThrow();
    else read.toThrow('Redis sent');
  }
});
