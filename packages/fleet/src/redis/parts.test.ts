import { expect, test } from 'vitest';
import { partCounter } from './parts.ts';

const TEXTS: readonly (readonly [string, number])[] = [
  ['*2\r\n:1\r\n+OK\r\n', 3],
  ['$5\r\n\r\n\r\n:\r\n:1\r\n', 2], // The string has line ends of its own.
  ['$0\r\n\r\n$-1\r\n_\r\n*0\r\n%1\r\n,1.5\r\n#t\r\n', 7],
  ['=15\r\ntxt:some string\r\n!5\r\nERR \n\r\n', 2],
  [`-${'x'.repeat(100)}\r\n:1\r\n`, 2],
  ['$900000000\r\n:1\r\n:1\r\n', 1],
];

test.each(TEXTS)('G7: %j has %i parts, however it is cut', (text, parts) => {
  const bytes = Buffer.from(text);
  for (const length of [1, 2, 7, bytes.length]) {
    const partsIn = partCounter();
    let counted = 0;
    for (let from = 0; from < bytes.length; from += length) counted += partsIn(bytes.subarray(from, from + length));
    expect(counted).toBe(parts);
  }
});
