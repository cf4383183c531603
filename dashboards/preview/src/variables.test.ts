import { describe, expect, test } from 'vitest';
import type { DashboardJson } from '../../src/finish.ts';
import type { Prometheus } from './prometheus.ts';
import { choices, escaped, interpolated, joined, readable } from './variables.ts';

const WINDOW = { fromMs: 0, toMs: 600_000 };
const query = (name: string, text: string, more: DashboardJson = {}): DashboardJson => ({
  name,
  label: name.toUpperCase(),
  type: 'query',
  query: { query: text },
  multi: true,
  includeAll: true,
  allValue: '.+',
  current: { text: ['All'], value: ['$__all'] },
  ...more,
});
const dashboard = (...list: DashboardJson[]): DashboardJson => ({ uid: 'one', templating: { list } });

/** A Prometheus that offers three values for every label, and records the queries. */
const fake = () => {
  const asked: string[] = [];
  const prometheus: Prometheus = {
    range: () => Promise.resolve([]),
    instant: () => Promise.resolve([]),
    scrapeMs: () => Promise.resolve(undefined),
    labelValues: (label, selector) => {
      asked.push(`${label} of ${selector}`);
      return Promise.resolve(['a.b', 'c', 'd']);
    },
  };
  return { prometheus, asked };
};

const AGENT = query('agent', 'label_values(up, agent)');
const TOOL = query('tool', 'label_values(up{agent=~"$agent"}, tool)');

describe('choices', () => {
  test('the default of the dashboard: all', async () => {
    const { prometheus, asked } = fake();
    expect(await choices(dashboard(AGENT, TOOL), {}, prometheus, WINDOW)).toEqual([
      { name: 'agent', label: 'AGENT', text: 'All', value: '.+', hidden: false },
      { name: 'tool', label: 'TOOL', text: 'All', value: '.+', hidden: false },
    ]);
    expect(asked).toEqual(['agent of up', 'tool of up{agent=~".+"}']);
  });

  test('the selection of the caller filters the later variables', async () => {
    const { prometheus, asked } = fake();
    const made = await choices(dashboard(AGENT, TOOL), { agent: ['a.b', 'c'] }, prometheus, WINDOW);
    expect(made[0]).toMatchObject({ text: 'a.b + c', value: String.raw`(a\\.b|c)` });
    expect(asked[1]).toBe(String.raw`tool of up{agent=~"(a\\.b|c)"}`);
  });

  test('the first value, if nothing is selected and there is no All', async () => {
    const lone = query('agent', 'label_values(up, agent)', { includeAll: false, current: {} });
    const [agent] = await choices(dashboard(lone), {}, fake().prometheus, WINDOW);
    expect(agent).toMatchObject({ text: 'a.b', value: String.raw`a\\.b` });
  });

  test('all of them by name, if All has no value of its own', async () => {
    const { allValue, ...named } = AGENT;
    const [agent] = await choices(dashboard(named), {}, fake().prometheus, WINDOW);
    expect(allValue).toBe('.+');
    expect(agent).toMatchObject({ text: 'All', value: String.raw`(a\\.b|c|d)` });
  });

  test('a data source is selected by its type', async () => {
    const source = { name: 'traces', type: 'datasource', query: 'tempo' };
    expect(await choices(dashboard(source), {}, fake().prometheus, WINDOW)).toMatchObject([
      { label: 'traces', text: 'Tempo' },
    ]);
  });

  test('an unknown variable is rejected, with the names of the existing ones', async () => {
    await expect(choices(dashboard(AGENT), { tol: ['x'] }, fake().prometheus, WINDOW)).rejects.toThrow(
      'the dashboard one has no variable "tol". It has: agent.',
    );
  });
});

test('a value is taken literally in a regular expression in a string', () => {
  expect(escaped('a.b(c)')).toBe(String.raw`a\\.b\\(c\\)`);
  expect(joined(['x'])).toBe('x');
});

test("Grafana's own variables are those of the query's step", () => {
  const timing = { fromMs: 0, toMs: 600_000, stepMs: 5000, scrapeMs: 15_000 };
  const agent = { name: 'agent', label: 'Agent', text: 'All', value: '.+', hidden: false };
  expect(
    interpolated(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable, not ours.
      'rate(x{a=~"$agent"}[$__rate_interval]) $__interval ${__interval_ms} $__range $__range_s',
      [agent],
      timing,
    ),
  ).toBe('rate(x{a=~".+"}[60s]) 5s 5000 600s 600');
  expect(() => interpolated('$unknown', [], timing)).toThrow('$unknown');
});

test('a title shows the selection', () => {
  const tool = { name: 'tool', label: 'Tool', text: 'web_search', value: 'web_search', hidden: false };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as above.
  expect(readable('Calls of $tool, ${tool}, $5', [tool])).toBe('Calls of web_search, web_search, $5');
});
