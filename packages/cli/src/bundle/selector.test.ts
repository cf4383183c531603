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

/** Whether Prometheus' own grammar accepts it, with as many matchers. */
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
    expect(parsed(selector), 'it accepts its own output').toBe(selector);
    expect(checkedSelector(selector), 'rules and dashboards accept it too').toBe(selector);
  });

  it.each([
    ['', /is empty.*job=~"agents-\.\+"/],
    ['{ }', /is empty/],
    ['agents', /the label agents must be followed by = != =~ or !~, at character 7/],
    ['job=agents', /must be in quotes, as in job="agents".*single quotes, at character 5/],
    ['job=="a"', /one =.*at character 5/],
    ['job="a', /the quote " is never closed, at character 5/],
    ['{job="a"', /name of a label.*"\{"/],
    ['job="a" cluster="b"', /comma.*at character 9/],
    ['job="a" and cluster="b"', /comma/],
    ['job="a",,cluster="b"', /name of a label.*","/],
    ['{"job"="a"}', /name of a label.*at character 2/],
    ['job="a\\.b"', /no escape \\\..*twice/],
    ['job=~"a("', /"a\(" is invalid: Unterminated group/],
    ['job=~"*"', /is invalid: Nothing to repeat/],
    ['job=~"(?!test).*"', /lookahead/],
    ['job=~"(a)\\\\1"', /backreference/],
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
  ])('rejects %s with the reason', (written, reason) => {
    expect(fault(written)).toMatch(reason);
  });

  it('accepts selectors that only look like rejected ones', () => {
    for (const written of ['job=~"(\\\\(\\\\?=x)"', 'job="(?=x)"', 'job=~"a\\\\\\\\1"'])
      expect(parsed(written)).toBeTruthy();
  });
});
