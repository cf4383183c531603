import { parser } from '@grafana/lezer-logql';
import { expect, it } from 'vitest';
import { dashboards } from './own.ts';
import { dashboardPanels } from './queries.ts';

/** The places at which Grafana's own parser of LogQL, that of its query editor, finds a fault. */
const faults = (query: string): readonly number[] => {
  const at: number[] = [];
  parser.parse(query).iterate({ enter: ({ type, from }) => void (type.isError && at.push(from)) });
  return at;
};

const queries = dashboards({ logs: { uid: 'loki' }, levels: ['cluster', 'namespace'] })
  .flatMap(({ json }) => dashboardPanels(json))
  .filter(({ type }) => type === 'logs')
  .flatMap(({ targets }) => (targets ?? []) as unknown as readonly { readonly expr: string }[])
  .map(({ expr }) => expr);

it.each(['.*', 'research-agent', '(research-agent|ops-agent)'])(
  'the panels of logs have queries in LogQL, whatever is selected: %s',
  (selected) => {
    expect(queries).toHaveLength(3);
    for (const query of queries)
      expect(faults(query.replaceAll(/\$(?:agent|tool|cluster|namespace)/g, selected)), query).toEqual([]);
  },
);

it('a query with a name that Loki does not have in this form is a fault', () => {
  expect(faults('{service_name=~".+"} | gen_ai.agent.name="a"')).not.toEqual([]);
});
