import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtDashboards } from './dashboards.ts';
import { type DashboardJson, rendered } from './finish.ts';
import { UID } from './links.ts';
import { dashboards } from './own.ts';
import { COLOUR } from './palette.ts';
import { NONE } from './panels.ts';
import { dashboardPanels, dashboardQueries, substitute, variableQueries } from './queries.ts';

const all = builtDashboards();

interface PanelJson {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly interval?: string;
  readonly maxDataPoints?: number;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly {
    readonly refId: string;
    readonly datasource: { readonly type: string; readonly uid: string };
    readonly instant: boolean;
    readonly range: boolean;
    readonly legendFormat?: string;
    readonly expr: string;
  }[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly decimals?: number;
      readonly noValue?: string;
      readonly thresholds?: object;
      readonly custom?: { readonly axisSoftMax?: number; readonly drawStyle?: string };
    };
    readonly overrides?: readonly {
      readonly matcher: { readonly options: unknown };
      readonly properties: readonly object[];
    }[];
  };
  readonly options?: { readonly legend?: { readonly showLegend: boolean; readonly displayMode?: string } };
  readonly panels?: readonly PanelJson[];
}

/** Panels that may be empty while agents report, and what they say then. */
const EMPTY = [
  [/burn: over/, 'No sessions'],
  [/^Share of tasks deferred/, 'No planned tasks'],
  [/^Tokens by/, 'No tokens'],
  [/^Tools that are open in several/, 'No such tool'],
  [/^Probes by process/, 'No probes'],
  [/^Latency heatmap$/, 'No calls'],
  [/^(Models in range|Who answered|Tokens of models)$/, 'No models'],
  [/^Calls that no model answered$/, 'None'],
  [/^(Tokens|Cost) per hour$/, 'No spending'],
  [/^(Spend and limits by agent in range|Limits advised and reached)$/, 'No limits'],
] as const;

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable, not ours.
const CHOSEN = { type: 'prometheus', uid: '${datasource}' };

describe('the dashboards', () => {
  it('are four, each with its own uid and title', () => {
    expect(all.map(({ uid }) => uid)).toEqual(Object.values(UID));
    expect(new Set(all.map(({ json }) => json.title)).size).toBe(4);
  });
});

const narrow = dashboards({
  selector: 'namespace="agents", job=~"agents-.+"',
  levels: ['cluster', 'namespace'],
});
it.each([all, narrow].flatMap((some) => some.flatMap(({ json }) => dashboardQueries(json))))(
  'the query $refId of $panel is at most 8 kB, also with a selector and levels, because proxies and VictoriaMetrics reject long ones',
  ({ expr }) => {
    const variables = { rules: 'j', fleet: 'j', cluster: '.*', namespace: '.*' };
    const { length } = substitute(expr, { rateInterval: '1m', range: '1h', variables });
    expect(length).toBeLessThanOrEqual(8192);
  },
);

it.each(['instance', 'agent', 'tool'])(
  'with ten values of 20 characters for %s, no query has more than 14 kB, because VictoriaMetrics rejects more than 16',
  (name) => {
    const ten = `(${Array.from({ length: 10 }, (_, index) => `${index}`.repeat(20)).join('|')})`;
    const variables = { rules: 'j', fleet: 'j', cluster: '.*', namespace: '.*', [name]: ten };
    for (const { expr } of narrow.flatMap(({ json }) => dashboardQueries(json))) {
      expect(substitute(expr, { rateInterval: '1m', range: '1h', variables }).length).toBeLessThanOrEqual(14_000);
    }
  },
);

describe.each(all.map(({ uid, json }) => [uid, json] as const))('%s', (uid, built) => {
  const panels = dashboardPanels(built) as unknown as readonly PanelJson[];
  /** Of closed rows, whose queries Grafana sends only when they are opened. */
  const shared = panels.flatMap((panel) => (panel.panels ?? []).map(({ title }) => title));
  const drawn = panels.filter(({ type }) => type !== 'row');
  const named = drawn.map((panel) => [panel.title, panel] as const);
  it('is committed as the source generates it', () => {
    expect(
      readFileSync(new URL(`../generated/${uid}.json`, import.meta.url), 'utf8'),
      'run "node scripts/pnpm/pnpm.mjs run generate" and commit the result',
    ).toBe(rendered(built));
  });

  it('has a fixed uid, and cannot be edited in place', () => {
    expect(built).toMatchObject({ uid, id: null, editable: false, schemaVersion: 42 });
  });

  it('offers a data source, and job, instance, agent and tool, each filtered by those before it', () => {
    const { list } = (built.templating ?? {}) as { list: readonly DashboardJson[] };
    expect(list.map(({ name }) => name).slice(0, 5)).toEqual(['datasource', 'job', 'instance', 'agent', 'tool']);
    expect(list[0]).toMatchObject({ type: 'datasource', query: 'prometheus' });
    for (const variable of list.slice(1, 5)) {
      expect(variable).toMatchObject({
        type: 'query',
        multi: true,
        includeAll: !(uid === UID.toolDetail && variable.name === 'tool'),
        // No plus in variables that links to traces put into a URL. Recorded series have no instance.
        allValue: variable.name === 'job' ? '.+' : '.*',
        datasource: CHOSEN,
      });
    }
    // L1: of which dashboard-linter is told.
    expect(readFileSync(new URL('../generated/.lint', import.meta.url), 'utf8')).toContain('template-instance-rule:');
    expect(variableQueries(built).slice(0, 4)).toEqual([
      { variable: 'job', label: 'job', selector: 'breakerbox_sessions{job=~".+"}' },
      { variable: 'instance', label: 'instance', selector: 'breakerbox_sessions{job=~"$job"}' },
      {
        variable: 'agent',
        label: 'gen_ai_agent_name',
        selector: 'breakerbox_sessions{job=~"$job", instance=~"$instance"}',
      },
      {
        variable: 'tool',
        label: 'gen_ai_tool_name',
        selector: `breakerbox_circuits{job=~"$job", instance=~"$instance", gen_ai_agent_name=~"$agent"${uid === UID.toolDetail ? '' : ', gen_ai_tool_name!~"(group:)?model:.+"'}}`,
      },
    ]);
  });

  it('finds out whether rules are loaded, with hidden variables that no link carries', () => {
    const { list } = (built.templating ?? {}) as { list: readonly DashboardJson[] };
    const hidden = list.filter(({ hide }) => hide === 2);
    expect(hidden.map(({ name }) => name)).toEqual(['rules', 'fleet']);
    const regex = '/^(j)/';
    for (const one of hidden) expect(one).toMatchObject({ skipUrlSync: true, multi: false, includeAll: false, regex });
    expect(variableQueries(built).slice(4)).toEqual([
      {
        variable: 'rules',
        label: '__name__',
        selector: 'job_agent:breakerbox_sessions:sum{job=~"$job", instance=~"$instance"}',
      },
      {
        variable: 'fleet',
        label: '__name__',
        selector:
          'job_tool_state:breakerbox_circuits:sum{job=~"$job", instance=~"$instance", gen_ai_agent_name=~"$agent"}',
      },
    ]);
  });

  it('names no data source except the selected one', () => {
    const uids = [...rendered(built).matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid);
    expect(new Set(uids)).toEqual(new Set([CHOSEN.uid, uid]));
  });

  it('has unique refIds within each panel', () => {
    const ids = dashboardQueries(built)
      .filter(({ kind }) => kind !== 'annotation')
      .map(({ panel, refId }) => `${panel} ${refId}`);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('leads from a tool in a table to its traces', () => {
    const links = rendered(built).match(/"title": "Traces of failed calls",\s+"url": "\/explore\?[^"]+__data\.fields/g);
    expect(links?.length).toBeGreaterThanOrEqual(1);
    expect(rendered(built)).toContain('"query": "tempo"');
  });

  it('asks for exemplars of latency percentiles alone, which each lead to the trace of a call', () => {
    const asking = named.filter(([, panel]) => JSON.stringify(panel).includes('"exemplar":true'));
    const drawn = named.filter(([, { title }]) => title === 'Latency percentiles');
    expect(asking).toEqual(drawn);
  });

  it.each(named.filter(([, { type }]) => type === 'timeseries'))(
    '%s has an axis up to little while all is 0, and a table of its lines has the highest first',
    (_, { fieldConfig, options }) => {
      const { unit = '', custom } = fieldConfig?.defaults ?? {};
      expect(custom?.axisSoftMax).toBe(['ops', 's'].includes(unit) ? 0.01 : 1);
      const { displayMode, ...sorted } = options?.legend ?? {};
      if (displayMode === 'table') expect(sorted).toMatchObject({ sortBy: 'Max', sortDesc: true });
    },
  );

  it('links to the other dashboards with the time range and the variables', () => {
    expect(built.links).toMatchObject([
      { type: 'dashboards', tags: ['breakerbox'], includeVars: true, keepTime: true },
    ]);
    expect(built.tags).toContain('breakerbox');
  });

  it('has panels on the grid of 24 columns without a gap or an overlap', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos } of panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.get(`${x},${y}`), `${title} lies on another panel`).toBeUndefined();
          taken.set(`${x},${y}`, title);
        }
      }
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    }
    const bottom = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h));
    expect(taken.size).toBe(24 * bottom);
  });

  it.each(named)('%s has a description, a unit, and a text for no value', (_, panel) => {
    expect(panel.title).not.toBe('');
    expect(panel.description ?? '').toMatch(/\w.{20,}\.$/);
    expect(panel.fieldConfig?.defaults.unit).toBeTruthy();
    // A histogram cannot report a zero. Many agents share no circuits.
    const empty = shared.includes(panel.title) ? 'No fleet' : 'No telemetry';
    expect(panel.fieldConfig?.defaults.noValue).toBe(EMPTY.find(([titles]) => titles.test(panel.title))?.[1] ?? empty);
  });

  it('has an id for each panel', () => {
    expect(new Set(panels.map(({ id }) => id))).toEqual(new Set(panels.map((_, index) => index + 1)));
  });

  it.each(named)('%s queries the selected data source', (_, panel) => {
    expect(panel.datasource).toEqual(CHOSEN);
    expect(panel.targets?.length).toBeGreaterThan(0);
    for (const target of panel.targets ?? []) {
      expect(target.datasource).toEqual(CHOSEN);
      expect(target.instant).not.toBe(target.range);
    }
  });

  it.each(named.filter(([, { type }]) => type === 'timeseries' || type === 'state-timeline'))(
    '%s names its lines',
    (_, panel) => {
      expect(panel.options?.legend?.showLegend).toBe(true);
      for (const target of panel.targets ?? []) expect(target.legendFormat).toBeTruthy();
    },
  );

  it.each(named.filter(([, { type }]) => type === 'timeseries'))(
    '%s draws a grey zero without a name if nothing happened',
    (_, panel) => {
      const none = panel.fieldConfig?.overrides?.find(({ matcher }) => matcher.options === NONE);
      expect(none?.properties).toMatchObject([
        { id: 'color', value: { fixedColor: COLOUR.grey } },
        { id: 'custom.hideFrom', value: { legend: true } },
      ]);
    },
  );

  it.each(named.filter(([, { type }]) => type === 'timeseries'))(
    '%s has several ticks on its axis',
    (_, { fieldConfig }) => {
      // Without decimals, Grafana only labels shares at 0 and 100 %.
      const { unit, decimals } = fieldConfig?.defaults ?? {};
      if (unit === 'percentunit') expect(decimals).toBeUndefined();
    },
  );

  it.each(named.filter(([, { targets }]) => targets?.some(({ range }) => range)))(
    '%s leaves the scrape interval to the data source',
    (_, { interval }) => {
      expect(interval).toBeUndefined();
    },
  );

  it.each(named.filter(([, { fieldConfig }]) => fieldConfig?.defaults.custom?.drawStyle === 'bars'))(
    '%s has visible bars, also with a sample each second',
    (_, { maxDataPoints }) => {
      expect(maxDataPoints).toBeLessThanOrEqual(120);
    },
  );

  it('rarely looks back for an hour or more at each step of a graph, for 500 agents', () => {
    for (const { panel, expr, kind } of dashboardQueries(built)) {
      if (kind !== 'range') continue;
      // With `@ end()`, the query runs once.
      const long = [...expr.matchAll(/\[(?:\d+h|\$__range)(?::[^\]]*)?\](?! @ end\(\))/g)];
      expect(long.length, panel).toBeLessThanOrEqual(7);
    }
  });

  it('has panels with unique titles', () => {
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });
});
