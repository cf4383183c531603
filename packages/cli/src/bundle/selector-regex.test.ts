/** What is accepted is accepted by Prometheus too, and the other way round for common mistakes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runTool } from '../../../../stack/tools.ts';
import { regexFault } from './selector-regex.ts';

const ACCEPTED = [
  ...['', 'agents-.+', 'a|b', '|a', '()', '(|a)*', '^a', '.*?', 'a{2}', 'a{2,}?', 'a{0,1000}', '(a{10}){100}', '(a*)*'],
  ...['(?i)TEST', '(?i:a)b', '(?s-m:a)', '(?P<team>a|b)-.+', '(?P<a>x)(?P<b>y)', '(?:a|b)c', 'a{100}b{100}'],
  ...['[a-z]', '[^a-z]', '[a-]', '[-a]', '[\\w.-]+', '[\\x41-\\x5a\\]\\\\]', '\\[\\]', '\\(\\?=a', '\\\\1'],
  ...['\\d\\D\\s\\S\\w\\W', '\\b\\B', '\\.\\/\\(', '\\x41\\f\\n\\r\\t\\v', '\\p{Lu}\\P{N}', 'ä+😀?[😀-😂]'],
];
const REJECTED: readonly (readonly [string, RegExp])[] = [
  ['[]', /never closed/],
  ['[^]', /never closed/],
  ['[a', /^is invalid/],
  ['[z-a]', /^is invalid: Range/],
  ['[[:letter:]]', /^is invalid/],
  ['a{1001}', /more than 1000 times/],
  ['a{1,1001}', /more than 1000 times/],
  ['(a{100}){100}', /more than 1000 times/],
  ['a{2,1}', /^is invalid/],
  ['*', /^is invalid: Nothing to repeat/],
  ['a|+', /Nothing to repeat/],
  ['(?i)?', /Nothing to repeat/],
  ['a**', /Nothing to repeat/],
  ['a{2}{3}', /Nothing to repeat/],
  ['(?<team>a)', /Write \(\?P<name>/],
  ['(?>a)', /^is invalid/],
  ['(?=a)', /lookahead/],
  ['(?<!a)', /lookbehind/],
  ['(a)\\1', /backreference/],
  ['(?P<a>x)\\k<a>', /backreference/],
  ['a(', /^is invalid: Unterminated group/],
  ['a)', /Unmatched/],
  ['a\\', /^is invalid/],
  ['\\y', /^is invalid/],
  ['\\cA', /\\c or \\u/],
  ['\\u0041', /\\c or \\u/],
  ['\\p{Klingon}', /general category/],
  ['\\p{Alphabetic}', /general category/],
];

/** Expressions that Prometheus rejects. */
const rejectedByPrometheus = async (expressions: readonly string[]): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-regex-'));
  onTestFinished(() => rm(folder, { recursive: true }));
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
  it('that is accepted is accepted by Prometheus', async () => {
    expect(ACCEPTED.filter((text) => regexFault(text) !== undefined)).toEqual([]);
    expect(await rejectedByPrometheus(ACCEPTED)).toEqual([]);
  });

  it.each(REJECTED)('%s is rejected with the reason', (text, reason) => {
    expect(regexFault(text)).toMatch(reason);
  });

  it('that is rejected here is rejected by Prometheus', async () => {
    const rejected = REJECTED.map(([text]) => text).filter((text) => text !== '(?<team>a)');
    expect(await rejectedByPrometheus(rejected)).toEqual(rejected);
  });
});
