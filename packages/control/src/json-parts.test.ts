import { expect, test } from 'vitest';
import { parsedJson } from './json-parts.ts';
import { atOnce } from './turns.ts';

const parsed = (text: string): unknown => atOnce(parsedJson(Buffer.from(text)));
const PART = 32 * 1024;
/** Longer than a part, so that it is read in several. */
const long = (one: string): string => Array.from({ length: PART / one.length }, () => one).join();

const TEXTS: readonly string[] = [
  ...['1', '"a"', ' [1, 2]\n', '{}', '[]', '{"a":{"b":[1,{"c":"]}\\",{["}]}}'],
  `[${long('"€ \\" [{,:"')}]`,
  `{"first":1,"all":[${long('{"a":[1,"x,y"],"__proto__":{"b":2}}')}],"last":[[${long('[]')}],2]}`,
  `[[${long('1')}],[${long('{"a":null}')}], {"a": [ ${long('1.5')} ] , "b": 1} ]`,
  `{"__proto__":[${long('1')}],"a":"${'x'.repeat(2 * PART)}","b":{}}`,
];

test('A7: JSON in parts is what JSON.parse gives', () => {
  for (const text of TEXTS) expect(parsed(text)).toEqual(JSON.parse(text));
});

test('A7: what JSON.parse refuses is refused, also between its parts', () => {
  const list = `[${long('1')}]`;
  const broken = [
    ...['', '[', '{"a":1', '[1]]', '[1][2]', '[1}', '"a', 'x[1]', `${list},`, `[${list},]`, `[${list}1]`, `[,${list}]`],
    ...[`[1 ${list}]`, `{"a" ${list}}`, `{${list}}`, `{"a":${list}`, `[${list}}`, `[${long('1')},,${long('1')}]`],
  ];
  for (const text of broken) {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(() => parsed(text), text.slice(0, 20)).toThrow(SyntaxError);
  }
});

test('A7: nested lists, values and kinds of objects have bounds', () => {
  expect(parsed(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeDefined();
  expect(() => parsed('['.repeat(20_000))).toThrow('more than 32 deep');
  expect(() => parsed(`[${'{},'.repeat(400_000)}1]`)).toThrow('more than 400000 values');
  const keys = Array.from({ length: 1_001 }, (_, index) => `"k${index}":1`);
  expect(() => parsed(`{${keys.join()}}`)).toThrow('more than 1000 kinds');
});
