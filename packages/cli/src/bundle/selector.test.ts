import { checkedSelector } from '@breakerbox/alerts';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { parseSelector } from './selector.ts';

const parsed = (text: string): string => {
  const result = parseSelector(text);
  if ('issue' in result) throw new Error(result.issue.message);
  return result.selector;
};
const fault = (text: string): string => {
  const result = parseSelector(text);
  if ('selector' in result) throw new Error(`accepted as ${result.selector}`);
  expect(result.issue.path).toBe('--selector');
  return result.issue.message;
};

/** Whether Prometheus' own grammar reads it, and as so many matchers. */
const matchersByGrammar = (selector: string): number => {
  let matchers = 0;
  parser.parse(`x{${selector}}`).iterate({
    enter: ({ type }) => {
      if (type.isError) matchers = Number.NaN;
      if (type.name === 'UnquotedLabelMatcher') matchers += 1;
    },
  });
  return matchers;
};

describe('--selector', () => {
  it.each([
    ['job=~"agents-.+"', 'job=~"agents-.+"', 1],
    ["job='a'", 'job="a"', 1],
    ['job=`a\\.b`', 'job="a\\\\.b"', 1],
    [' { job != "a" , cluster=~"eu|us" , } ', 'job!="a", cluster=~"eu|us"', 2],
    ['job="say \\"hi\\""', 'job="say \\"hi\\""', 1],
    ["job='it\\'s \"so\"'", 'job="it\'s \\"so\\""', 1],
    ['job!~"(?i)TEST.*", gen_ai_agent_name=~"(?P<team>a|b)-.+"', undefined, 2],
    ['job="100%"', 'job="100%"', 1],
    ['job=""', 'job=""', 1],
    ['job=~"v1\\\\.[0-9]+"', 'job=~"v1\\\\.[0-9]+"', 1],
    ['job="a, b}"', 'job="a, b}"', 1],
  ])('takes %s', (written, expected, matchers) => {
    const selector = parsed(written);
    if (expected !== undefined) expect(selector).toBe(expected);
    expect(matchersByGrammar(selector)).toBe(matchers);
    expect(parsed(selector), 'it reads its own').toBe(selector);
    expect(checkedSelector(selector), 'and so do the rules and dashboards').toBe(selector);
  });

  it.each([
    ['', /is empty.*job=~"agents-\.\+"/],
    ['{ }', /is empty/],
    ['agents', /after the label agents one of = != =~ !~ must follow, at character 7/],
    ['job=agents', /must be in quotes, as in job="agents".*single quotes, at character 5/],
    ['job=="a"', /one =.*at character 5/],
    ['job="a', /the quote " is never closed, at character 5/],
    ['{job="a"', /name of a label.*"\{"/],
    ['job="a" cluster="b"', /comma.*at character 9/],
    ['job="a" and cluster="b"', /comma/],
    ['job="a",,cluster="b"', /name of a label.*","/],
    ['{"job"="a"}', /name of a label.*at character 2/],
    ['job="a\\.b"', /no escape \\\..*written twice/],
    ['job=~"a("', /"a\(" can't be read: unterminated group/],
    ['job=~"*"', /can't be read: nothing to repeat/],
    ['job=~"(?!test).*"', /looks ahead/],
    ['job=~"(a)\\\\1"', /refers back/],
    ['job=~"a$"', /begins a variable in Grafana/],
    ['job="a\\nb"', /control character/],
    ['job=`a\nb`', /control character/],
    ['job="{{x}}"', /double brace/],
    ['job="`"', /backtick/],
    ['__name__="x"', /name of the metric.*at character 1/],
    ['job="a", breakerbox_state="open"', /breakerbox_state says what happened.*at character 10/],
    ['gen_ai_tool_name="x"', /gen_ai_tool_name says what happened/],
    ['error_type="x"', /error_type/],
    ['le="x"', /le says/],
    ['job="a\u2028b"', /control character/],
    ['job="a\u2029b"', /control character/],
    ['job=~"[]"', /never closed/],
    ['job=~"(?<name>a)"', /\(\?P<name>/],
    ['alertname="x"', /alertname is a label of alerts.*at character 1/],
    ['alertstate="x"', /alertstate is/],
    ['job="a", severity="critical"', /severity is a label of alerts.*at character 10/],
    ['scope="fleet"', /scope is/],
  ])('refuses %s and says why', (written, reason) => {
    expect(fault(written)).toMatch(reason);
  });

  it('refuses nothing for looking like what it refuses', () => {
    for (const written of ['job=~"(\\\\(\\\\?=x)"', 'job="(?=x)"', 'job=~"a\\\\\\\\1"'])
      expect(parsed(written)).toBeTruthy();
  });
});
