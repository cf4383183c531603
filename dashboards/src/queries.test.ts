import { describe, expect, it } from 'vitest';
import { builtDashboards } from './dashboards.ts';
import { finished } from './finish.ts';
import { UID } from './links.ts';
import { dashboardQueries, QUIET_QUERIES, showsSomething, substitute, variableQueries } from './queries.ts';

const times = { rateInterval: '4s', range: '60s' };

describe('substitute', () => {
  it('fills in times for Grafana’s own variables, and "All" for those of the dashboard', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable, not ours.
    const expr = 'sum(rate(a{job=~"$job"}[$__rate_interval])) + sum(increase(b{x=~"${tool}"}[$__range] @ end()))';
    expect(substitute(expr, times)).toBe('sum(rate(a{job=~".+"}[4s])) + sum(increase(b{x=~".*"}[60s] @ end()))');
  });

  it('uses the step with which Grafana shows every sample', () => {
    const expr = 'count_over_time(a[$__range:$__interval]) * $__interval_ms * 0.001 / $__range_s';
    expect(substitute(expr, times)).toBe('count_over_time(a[60s:1000ms]) * 1000 * 0.001 / 60');
    expect(substitute(expr, { rateInterval: '4m', range: '1h30m' })).toBe(
      'count_over_time(a[1h30m:60000ms]) * 60000 * 0.001 / 5400',
    );
  });

  it('uses selected values', () => {
    expect(substitute('a{x=~"$agent"}', { ...times, variables: { agent: 'one|two' } })).toBe('a{x=~"one|two"}');
  });

  it('rejects a variable that Grafana would not replace', () => {
    expect(() => substitute('a{x=~"$cluster"}', times)).toThrow(/"\$cluster".*is not a variable/);
  });
});

describe('dashboardQueries', () => {
  const dashboard = {
    uid: 'd',
    panels: [
      {
        type: 'row',
        title: 'Row',
        panels: [{ title: 'Inside', targets: [{ refId: 'A', expr: 'up', instant: true }] }],
      },
      {
        title: 'Graph',
        targets: [
          { refId: 'A', expr: 'a', range: true },
          { refId: 'B', expr: 'b', range: true },
        ],
      },
    ],
    annotations: { list: [{ name: 'Mark', expr: 'c' }] },
    templating: { list: [{ type: 'datasource', name: 'datasource', query: 'prometheus' }] },
  };

  it('finds queries of panels, of panels inside rows, and of annotations', () => {
    expect(dashboardQueries(dashboard)).toEqual([
      { dashboard: 'd', panel: 'Inside', refId: 'A', expr: 'up', kind: 'instant' },
      { dashboard: 'd', panel: 'Graph', refId: 'A', expr: 'a', kind: 'range' },
      { dashboard: 'd', panel: 'Graph', refId: 'B', expr: 'b', kind: 'range' },
      { dashboard: 'd', panel: 'Mark', refId: 'annotation', expr: 'c', kind: 'annotation' },
    ]);
  });

  it('finds nothing in an empty dashboard', () => {
    expect(dashboardQueries({})).toEqual([]);
    expect(variableQueries(dashboard)).toEqual([]);
  });
});

describe('variableQueries', () => {
  it('rejects a form that it cannot send to Prometheus', () => {
    const list = [{ type: 'query', name: 'agent', query: 'metrics(.*)' }];
    expect(() => variableQueries({ templating: { list } })).toThrow(/agent has the query "metrics/);
  });
});

describe('showsSomething', () => {
  const queries = builtDashboards().flatMap(({ json }) => dashboardQueries(json));
  const quiet = queries.filter((query) => !showsSomething(query));

  it('only excludes queries that exist, by panel and refId, with a reason', () => {
    const named = ({ dashboard, panel, refId }: (typeof QUIET_QUERIES)[number] | (typeof quiet)[number]) =>
      `${dashboard}: ${panel} ${refId}`;
    expect(quiet.map(named).toSorted()).toEqual(QUIET_QUERIES.map(named).toSorted());
    for (const { why } of QUIET_QUERIES) expect(why).toMatch(/\w.{20,}/);
  });

  it('excludes alerts, vanished agents, shared circuits, models and exemplars, and nothing else', () => {
    const excused =
      /breakerbox_state=~?"(half_open|disabled\|observe_only)"|ALERTS(_FOR_STATE)?\{|\[1h:1m\]|breakerbox_fleet_|breakerbox_model_|model:| @ 0\)$/;
    for (const { expr } of quiet) expect(expr).toMatch(excused);
    expect(showsSomething({ dashboard: UID.fleetOverview, panel: 'Why calls were not made', refId: 'A' })).toBe(true);
  });
});

describe('finished', () => {
  it('rejects a number that JSON cannot represent', () => {
    const broken = { schemaVersion: 42, templating: {}, annotations: {}, version: Number.NaN };
    expect(() => finished(broken)).toThrow(/NaN cannot be written as JSON/);
  });
});
