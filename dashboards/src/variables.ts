import { SCOPE_NAME } from '@breakerbox/core';
import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { ATTR, label, METRIC } from './names.ts';
import { LEVELS, RECORDED } from './recorded.ts';

/** Every query uses the Prometheus that the user selected. The file names no data source, so none can be missing. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable, not ours.
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' } as const;

/** The Loki that the user selected, on dashboards with a panel of logs. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: as above.
export const LOKI = { type: 'loki', uid: '${logs}' } as const;
/** In LogQL: the records of Breakerbox. */
export const OF_SCOPE = `scope_name="${SCOPE_NAME}"`;

const ALL = { selected: true, text: ['All'], value: ['$__all'] };

/** A data source of Grafana. */
export interface DataSource {
  /** As in its address, `/connections/datasources/edit/<uid>`. */
  readonly uid: string;
  /** The displayed name. Default: the uid, until Grafana looks up the name. */
  readonly name?: string;
}

/** No value: Grafana selects the first one. */
const FIRST = { selected: false, text: [], value: [] };

const chained = (
  name: string,
  title: string,
  metric: string,
  matchers: readonly string[],
  of: string,
  all = '.+',
): QueryVariableBuilder => {
  const query = `label_values(${metric}{${matchers.join(', ')}}, ${of})`;
  return (
    new QueryVariableBuilder(name)
      .label(title)
      .datasource(DATASOURCE)
      // The object that Grafana's own editor saves: query type 1 is "label values".
      .query({ query, qryType: 1, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
      .definition(query)
      .multi(true)
      .includeAll(true)
      .allValue(all)
      .current(ALL)
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.NaturalAsc)
  );
};

const [job, instance, agent] = ['job=~"$job"', 'instance=~"$instance"', `${label(ATTR.agent)}=~"$agent"`] as const;
const { sessions, circuits } = METRIC;
/** "All" for variables that links to traces contain: in a URL, the plus of `.+` would be a space. */
const ANY_NAME = '.*';

/** The first letter of a recorded series, or empty: if no rules are loaded, or the variables do not show all that the series sums up. */
const loaded = (name: string, series: string, matchers: readonly string[]): QueryVariableBuilder => {
  const query = `label_values(${series}{${matchers.join(', ')}}, __name__)`;
  return (
    new QueryVariableBuilder(name)
      .hide(VariableHide.HideVariable)
      .datasource(DATASOURCE)
      .query({ query, qryType: 1, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
      .definition(query)
      // It is in each selector of long queries.
      .regex('/^(j)/')
      .multi(false)
      .includeAll(false)
      .current({ selected: false, text: '', value: '' })
      .refresh(VariableRefresh.OnTimeRangeChanged)
  );
};

/**
 * The variables at the top of the dashboard. Each offers only values that match the variables before it.
 * @param oneTool whether the dashboard opens with one tool, and offers no All for tools
 * @param logs the Loki that is selected first. Default: no variable for it
 */
export const variables = (
  oneTool: boolean,
  logs?: DataSource,
): (DatasourceVariableBuilder | QueryVariableBuilder)[] => [
  new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
  chained('job', 'Job', sessions.prometheus, ['job=~".+"'], 'job'),
  // Recorded series have no instance, and all of them must match.
  chained('instance', 'Instance', sessions.prometheus, [job], 'instance', ANY_NAME),
  chained('agent', 'Agent', sessions.prometheus, [job, instance], label(ATTR.agent), ANY_NAME),
  chained('tool', 'Tool', circuits.prometheus, [job, instance, agent], label(ATTR.tool), ANY_NAME)
    .description('group:NAME is the circuit of a group of tools')
    .includeAll(!oneTool)
    .current(oneTool ? FIRST : ALL),
  // Only for links: without a Tempo it is empty, and nothing else uses it.
  new DatasourceVariableBuilder('traces').label('Traces').type('tempo'),
  ...(logs === undefined
    ? []
    : [
        new DatasourceVariableBuilder('logs')
          .label('Logs')
          .type('loki')
          .current({ selected: true, text: logs.name ?? logs.uid, value: logs.uid }),
      ]),
  loaded(LEVELS.byAgent, RECORDED.sessions, [job, instance]),
  loaded(LEVELS.byTool, RECORDED.circuitsOfTool, [job, instance, agent]),
];
