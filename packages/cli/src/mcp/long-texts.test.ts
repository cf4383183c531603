import { describe, expect, test } from 'vitest';
import { withoutLongTexts } from './long-texts.ts';
import { readLine } from './rpc-message.ts';

const cut = (value: unknown, mostBytes = 20): unknown =>
  JSON.parse(withoutLongTexts(Buffer.from(JSON.stringify(value)), mostBytes).toString());

describe('long strings of a message that is looked at', () => {
  test('are cut, and everything else is as it was', () => {
    const found = cut({ id: 1, short: 'a"\\', long: 'x'.repeat(100), list: ['y'.repeat(50), null, 1.5], 'k"': '' });
    expect(found).toEqual({
      id: 1,
      short: 'a"\\',
      long: expect.stringMatching(/^x{19}… [\da-f]{64}$/),
      list: [expect.stringMatching(/^y{19}… [\da-f]{64}$/), null, 1.5],
      'k"': '',
    });
    expect(cut({ a: 'b' })).toEqual({ a: 'b' });
  });

  test.each(['\\', '"', '€', '😀', '\n', '\u0001', '\ud800', 'a\\"€😀\u0001'])('M10: %j is never divided', (one) => {
    for (let before = 0; before < 12; before += 1) {
      const text = `${'x'.repeat(before)}${one.repeat(30)}`;
      const [kept = ''] = String(cut([text])).split(/… [\da-f]{64}$/);
      expect(text.startsWith(kept)).toBe(true);
    }
  });

  test('two that begin alike stay different', () => {
    const of = (end: string) => cut(`${'x'.repeat(100)}${end}`);
    expect(of('a')).toBe(of('a'));
    expect(of('a')).not.toBe(of('b'));
  });

  test('a text that is not JSON ends', () => {
    const bytes = Buffer.from('{"a": "never closed');
    expect(withoutLongTexts(bytes, 5)).toBe(bytes);
  });

  test.each([
    ['a message', (text: string) => `{"id":1,"result":{"text":"${text}"}}`],
    ['a batch', (text: string) => `[{"id":1,"result":{"text":"${text}"}}]`],
  ])('M10: a text of escaped quotes in %s takes little longer than another one', (_, around) => {
    const cost = (text: string): number => {
      const line = Buffer.from(around(text));
      const times = Array.from({ length: 5 }, () => {
        const began = process.hrtime.bigint();
        readLine(line);
        return Number(process.hrtime.bigint() - began);
      });
      return Math.min(...times);
    };
    expect(cost('\\"'.repeat(1_000_000)) / cost('x'.repeat(2_000_000))).toBeLessThan(8);
  });

  test('M2: the messages of a batch are whole, because their texts are forwarded', () => {
    const long = 'x'.repeat(2_000_000);
    const single = readLine(Buffer.from(JSON.stringify({ id: 1, result: { long } })));
    expect(single?.messages[0]?.text.length).toBeLessThan(100_000);
    const batch = readLine(Buffer.from(JSON.stringify([{ id: 1, params: { long } }])));
    expect(batch?.messages[0]?.text).toContain(long);
  });
});
