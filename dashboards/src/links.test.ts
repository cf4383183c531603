import { describe, expect, it } from 'vitest';
import { builtDashboards } from './dashboards.ts';
import { rendered } from './finish.ts';
import {
  type DataLink,
  fromRow,
  fromRowTo,
  fromSeries,
  rowTracesLink,
  seriesTracesLink,
  tracesLink,
  UID,
} from './links.ts';
import { ATTR } from './names.ts';
import { AGENT_COLUMNS } from './table.ts';

/** The selection at the top: several values, or the text for all. */
type Chosen = readonly string[] | string;

/** Grafana's formats, as far as these links need them. Grafana never formats a value with a text of its own. */
const formatted = (name: string, chosen: Chosen, format: string | undefined): string => {
  const values = typeof chosen === 'string' ? [chosen] : chosen;
  if (format === 'queryparam') {
    const written = typeof chosen === 'string' ? ['$__all'] : chosen;
    return written.map((value) => `var-${name}=${encodeURIComponent(value)}`).join('&');
  }
  if (format === 'percentencode') return encodeURIComponent(values.join(','));
  if (format === 'pipe') return values.join('|');
  // Grafana's own format for links, which keeps characters that have a meaning in a URL.
  if (format === undefined) return encodeURI(values.join(','));
  throw new Error(`the format ${format} is new: add here what Grafana does for it`);
};

const TIMES = { __from: '1700000000000', __to: '1700003600000' };

/** Replaces variables as Grafana does, with Grafana's own regular expression for them. */
const followed = ({ url }: DataLink, chosen: Readonly<Record<string, Chosen>>): URL => {
  const values: Readonly<Record<string, Chosen>> = { ...TIMES, ...chosen };
  const href = url.replace(
    /\$(\w+)|\${(\w+)(?:\.([^:^}]+))?(?::([^}]+))?}/g,
    (written, bare?: string, name?: string, path?: string, format?: string) => {
      if (name === '__url_time_range') return `from=${TIMES.__from}&to=${TIMES.__to}`;
      const value = values[[bare ?? name, path].filter((part) => part !== undefined).join('.')];
      if (value === undefined) throw new Error(`Grafana would not replace ${written} in the link`);
      return formatted(bare ?? name ?? '', value, format);
    },
  );
  return new URL(href, 'https://grafana.example');
};

const ON_TOP = {
  datasource: ['prom-uid'],
  traces: 'tempo-uid',
  job: '.+',
  instance: '.+',
  agent: ['research-agent', 'ops.agent'],
  tool: '.*',
} satisfies Record<string, Chosen>;

/** The panes of a link to Explore, as Grafana reads them. */
const panesOf = (url: URL): unknown => JSON.parse(url.searchParams.get('panes') ?? '');

const pane = (query: string) => ({
  bbx: {
    datasource: 'tempo-uid',
    queries: [
      {
        refId: 'A',
        datasource: { type: 'tempo', uid: 'tempo-uid' },
        queryType: 'traceql',
        query,
        limit: 20,
        tableType: 'spans',
      },
    ],
    range: { from: '1700000000000', to: '1700003600000' },
  },
});

describe('a link to traces', () => {
  it('opens Explore with the selection at the top, and names no organisation', () => {
    const url = followed(tracesLink('Failed calls', 'status = error'), ON_TOP);
    expect(url.pathname).toBe('/explore');
    expect([...url.searchParams.keys()]).toEqual(['schemaVersion', 'panes']);
    expect(url.searchParams.get('schemaVersion')).toBe('1');
    expect(panesOf(url)).toEqual(
      pane(
        '{ span.gen_ai.agent.name =~ "research-agent|ops.agent" && span.gen_ai.tool.name =~ ".*" && status = error }',
      ),
    );
  });

  it('remains a link with names that contain special characters of regular expressions, which then match other names or none', () => {
    const url = followed(tracesLink('All'), { ...ON_TOP, agent: ['team/a (EU)'], tool: ['fs.read', 'a-b_c'] });
    expect(panesOf(url)).toEqual(
      pane('{ span.gen_ai.agent.name =~ "team/a (EU)" && span.gen_ai.tool.name =~ "fs.read|a-b_c" }'),
    );
  });

  it('has a pane with an id that Explore keeps', () => {
    expect(Object.keys(panesOf(followed(tracesLink('All'), ON_TOP)) as object)).toEqual([
      expect.stringMatching(/^[a-z]{3}$/),
    ]);
  });

  it('contains the exact agent and tool of the row that was clicked', () => {
    const url = followed(rowTracesLink('Traces', { [ATTR.agent]: 'Agent', [ATTR.tool]: 'Tool' }), {
      ...ON_TOP,
      '__data.fields["Agent"]': 'R&D + ops #1',
      '__data.fields["Tool"]': 'fs/read|all',
    });
    expect(panesOf(url)).toEqual(
      pane('{ span.gen_ai.agent.name = "R&D + ops #1" && span.gen_ai.tool.name = "fs/read|all" }'),
    );
  });

  it('contains the tool of the line that was clicked, and the agents selected at the top', () => {
    const url = followed(seriesTracesLink('Traces', [ATTR.tool], 'span.breakerbox.decision = "probe"'), {
      ...ON_TOP,
      '__field.labels.gen_ai_tool_name': 'web_search',
    });
    expect(panesOf(url)).toEqual(
      pane(
        '{ span.gen_ai.agent.name =~ "research-agent|ops.agent" && span.gen_ai.tool.name = "web_search" && span.breakerbox.decision = "probe" }',
      ),
    );
  });
});

describe('a link to another dashboard', () => {
  it('passes on time range and variables, and filters by the line', () => {
    const url = followed(fromSeries(UID.toolDetail, 'Tool detail', ATTR.tool), {
      ...ON_TOP,
      '__field.labels.gen_ai_tool_name': 'R&D',
    });
    expect(url.pathname).toBe('/d/breakerbox-tool-detail');
    expect([...url.searchParams]).toEqual([
      ['from', TIMES.__from],
      ['to', TIMES.__to],
      ['var-datasource', 'prom-uid'],
      ['var-instance', '$__all'],
      ['var-job', '$__all'],
      ['var-agent', 'research-agent'],
      ['var-agent', 'ops.agent'],
      ['var-tool', 'R&D'],
    ]);
  });

  it('filters by the row', () => {
    const url = followed(fromRow(UID.failureBudget, 'Failure budget', { [ATTR.agent]: 'Agent' }), {
      ...ON_TOP,
      '__data.fields["Agent"]': 'a+b',
    });
    expect(url.searchParams.getAll('var-agent')).toEqual(['a+b']);
    expect(url.searchParams.getAll('var-tool')).toEqual(['$__all']);
  });

  it('also filters by the job, because an agent of another job may have the same name', () => {
    const url = followed(fromRow(UID.failureBudget, 'Failure budget', AGENT_COLUMNS), {
      ...ON_TOP,
      '__data.fields["Job"]': 'prod',
      '__data.fields["Agent"]': 'a',
    });
    expect(url.searchParams.getAll('var-job')).toEqual(['prod']);
    expect(url.searchParams.getAll('var-agent')).toEqual(['a']);
  });

  it('opens the dashboard that the row names', () => {
    const url = followed(fromRowTo('Dashboard', 'Its dashboard', { [ATTR.tool]: 'Tool' }), {
      ...ON_TOP,
      '__data.fields["Dashboard"]': UID.failureBudget,
      '__data.fields["Tool"]': 'All',
    });
    expect(url.pathname).toBe('/d/breakerbox-failure-budget');
    expect(url.searchParams.getAll('var-tool')).toEqual(['All']);
  });
});

describe('the links of the dashboards', () => {
  it('use no format that Grafana breaks in a URL', () => {
    for (const { json } of builtDashboards()) {
      const formats = [...rendered(json).matchAll(/\$\{[^}:]+:([^}]+)\}/g)].map(([, format]) => format);
      for (const format of formats) expect(['queryparam', 'percentencode', 'pipe']).toContain(format);
    }
  });
});
