import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { ATTR, label, METRIC } from './names.ts';

/** Every query uses the Prometheus that the user selected. The file names no data source, so none can be missing. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable, not ours.
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' } as const;

const ALL = { selected: true, text: ['All'], value: ['$__all'] };

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

/** Variables that only some dashboards have. */
export type VariableName = 'traces';

const MORE: Readonly<Record<VariableName, () => DatasourceVariableBuilder>> = {
  // Only for links: without a Tempo it is empty, and nothing else uses it.
  traces: () => new DatasourceVariableBuilder('traces').label('Traces').type('tempo'),
};

/** The variables at the top of the dashboard. Each offers only values that match the variables before it. */
export const variables = (more: readonly VariableName[]): (DatasourceVariableBuilder | QueryVariableBuilder)[] => [
  new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
  chained('job', 'Job', sessions.prometheus, ['job=~".+"'], 'job'),
  chained('instance', 'Instance', sessions.prometheus, [job], 'instance'),
  chained('agent', 'Agent', sessions.prometheus, [job, instance], label(ATTR.agent), ANY_NAME),
  chained('tool', 'Tool', circuits.prometheus, [job, instance, agent], label(ATTR.tool), ANY_NAME).description(
    'group:NAME is the circuit of a group of tools',
  ),
  ...more.map((name) => MORE[name]()),
];
