/** What this parser accepts and refuses, compared with Prometheus. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '../../../../stack/tools.ts';
import { regexFault } from './selector-regex.ts';

const many = (times: number): string => `${'('.repeat(times)}a${')'.repeat(times)}`;

const READ = [
  ...[
    '',
    'agents-.+',
    'a|b',
    '|a',
    '()',
    '(|a)*',
    '^a$',
    '^*',
    '.*?',
    'a{2}',
    'a{2,}?',
    'a{0,1000}',
    'a{,5}',
    'a{x}',
    '{',
  ],
  ...['(?i)TEST', '(?i:a)b', '(?s-m:a)', '(?-i)a', '(?P<team>a|b)-.+', '(?P<a>x)(?P<b>y)', '(a{10}){100}', '(a*)*'],
  ...[
    '[a-z]',
    '[^a-z]',
    '[]a]',
    '[^]a]',
    '[]-a]',
    '[a-]',
    '[-a]',
    '[\\d-z]',
    '[\\w.-]+',
    '[[:alpha:]_]',
    '[[:^digit:]]',
    '[[a]',
  ],
  ...[
    '\\d\\D\\s\\S\\w\\W',
    '\\A\\b\\B\\z',
    '\\.\\-\\_\\/\\ \\"',
    '\\x41\\x{1F600}',
    '\\0\\12\\101',
    '\\pL\\PN\\p{Lu}\\p{^Greek}',
  ],
  ...['\\a\\f\\n\\r\\t\\v', '[\\x41-\\x5a\\]\\\\]', '[\\pL\\d]', '\\Qa.*b\\E+', 'ä+😀?[😀-😂]', many(200)],
];
const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['[]', /never closed/],
  ['[^]', /never closed/],
  ['[a', /never closed/],
  ['[z-a]', /from a higher/],
  ['[a-\\d]', /has \\d/],
  ['[\\b]', /has \\b/],
  ['[[:letter:]]', /\[:class:\]/],
  ['a{1001}', /more than 1000 times/],
  ['a{1,1001}', /more than 1000 times/],
  ['(a{100}){100}', /more than 1000 times/],
  ['((a{50}b){50})*c{2,1}', /more than 1000 times/],
  ['a{2,1}', /out of order/],
  ['*', /nothing to repeat before \*/],
  ['a|+', /nothing to repeat/],
  ['(?i)?', /nothing to repeat/],
  ['({2})', /nothing to repeat/],
  ['a**', /nothing to repeat/],
  ['a*+', /nothing to repeat/],
  ['a{2}{3}', /nothing to repeat/],
  ['(?<team>a)', /Write \(\?P<name>/],
  ['\\Q*', /without its \\E/],
  ['(?>a)', /no group that begins with/],
  ['(?i-)a', /no group that begins with/],
  ['(?=a)', /lookahead/],
  ['(?<!a)', /lookbehind/],
  ['(a)\\1', /backreference/],
  ['(?P<a>x)\\k<a>', /backreference/],
  ['a(', /unterminated group/],
  ['a)', /unmatched \)/],
  ['a\\', /ends with a/],
  ['\\y', /has \\y/],
  ['\\Z', /has \\Z/],
  ['\\C', /has \\C/],
  ['\\cA', /has \\c/],
  ['\\u0041', /has \\u/],
  ['\\8', /backreference/],
  ['\\x{110000}', /not a character/],
  ['\\pX', /unknown character class/],
  ['\\p{Klingon}', /unknown character class/],
  [many(1001), /nested brackets/],
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-regex-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Expressions that Prometheus refuses. */
const refusedByPrometheus = async (expressions: readonly string[]): Promise<readonly string[]> => {
  const quoted = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  const rules = expressions.map((text, index) => ({ record: `r${index}`, expr: `x{job=~"${quoted(text)}"}` }));
  const path = join(folder, 'rules.yml');
  await writeFile(path, JSON.stringify({ groups: [{ name: 'all', rules }] }));
  const { output } = await runTool('promtool', ['check', 'rules', path]);
  return [...output.matchAll(/rule \d+, "r(\d+)": could not parse expression/g)].map(
    ([, index]) => expressions[Number(index)] ?? '',
  );
};

describe('a regular expression', () => {
  it('that the parser accepts is accepted by Prometheus', async () => {
    expect(READ.filter((text) => regexFault(text) !== undefined)).toEqual([]);
    expect(await refusedByPrometheus(READ)).toEqual([]);
  });

  it.each(REFUSED)('%s is refused with the reason', (text, reason) => {
    expect(regexFault(text)).toMatch(reason);
  });

  it('that the parser refuses is refused by Prometheus', async () => {
    const refused = REFUSED.map(([text]) => text);
    expect(await refusedByPrometheus(refused)).toEqual(refused);
  });
});
