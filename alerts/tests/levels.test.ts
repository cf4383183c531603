import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { namesIn } from '../promql-names.ts';
import { alertmanagerParts } from '../src/carried.ts';
import { RuleOptionsError } from '../src/check-settings.ts';
import { grafanaAlerting } from '../src/grafana.ts';
import { type PrometheusRule, ruleFiles } from '../src/prometheus.ts';
import { run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const inNamespace = (namespace: string, index = 0) =>
  new SimulatedProcess({ namespace, instance: `${namespace}-${index}` });
const PROD = inNamespace('prod');
const STAGING = Array.from({ length: 25 }, (_, index) => inNamespace('staging', index));

const describing =
  't of agent a (job fleet, namespace prod) has been out of use for more than 5 minutes. Affected within the last 2 minutes: 1 circuit. Its calls are skipped. Check the service behind it. A probe closes the circuit once it works. To see which sessions it affects and when the next probe is due: breakerbox ctl list.';

it.concurrent.each([
  ['fires for the one namespace of 26 processes in which the tool is open', ['namespace'] as const],
  ['is silent about one of 26 processes without levels, which may be chance', [] as const],
])('a level: BreakerboxCircuitOpen %s', (_, levels) => {
  const own = levels.length > 0;
  const says = {
    at: 600,
    alert: 'CircuitOpen',
    labels: { namespace: 'prod', job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
    summary: 'a: t is out of use (network)',
    description: describing,
    dashboard: '/d/breakerbox-tool-detail?var-namespace=prod&var-job=fleet&var-agent=a&var-tool=t',
    began: 'Jan 1 00:01 UTC',
  };
  const scenario = {
    interval: 60,
    lasts: 720,
    options: { levels, settings: { openShare: 0.05 } },
    of: ['CircuitOpen'],
    processes: [PROD, ...STAGING],
    firing: own ? [{ alert: 'CircuitOpen', after: 360, by: 600 }] : [],
    says: own ? [says] : [],
  };
  for (const one of scenario.processes) one.start();
  return run(scenario, (now, prod) => {
    if (now === 60) prod.open(now, 't');
  });
});

it('a level: a tool of several agents names the agents of its own namespace', () => {
  const all = ['prod', 'staging'].flatMap((namespace) =>
    ['1', '2', '3'].map((agent) => new SimulatedProcess({ namespace, agent: `${namespace}-${agent}` })),
  );
  const says = {
    at: 600,
    alert: 'CorrelatedOpenings',
    labels: { namespace: 'prod', gen_ai_tool_name: 't', error_type: 'network', severity: 'critical', scope: 'fleet' },
    summary: 't opened on several agents together (network)',
    description:
      'Tool t (all jobs, namespace prod) opened on at least 3 agents within 2 minutes with errors of category network, or did so earlier and is still out of use there: prod-1, prod-2, prod-3. Look at the service behind the tool. Alertmanager mutes the warnings of the single agents during this alert. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
    dashboard: '/d/breakerbox-correlated-failures?var-namespace=prod&var-tool=t',
    began: 'Jan 1 00:05 UTC',
  };
  const scenario = {
    interval: 15,
    lasts: 720,
    options: { levels: ['namespace'] as const },
    of: ['CorrelatedOpenings'],
    processes: all,
    firing: [{ alert: 'CorrelatedOpenings', scope: 'fleet', after: 300, by: 540 }],
    says: [says],
  };
  return run(scenario, (now, ...some) => {
    // Two in staging are too few there, and do not belong to the event in prod.
    if (now === 300) for (const one of some.slice(0, 5)) one.open(now, 't');
  });
});

it('every rule keeps the levels that it reads, and so do the rules of Grafana and the parts of Alertmanager', () => {
  const levels = ['namespace', 'cluster'] as const;
  const rules = ruleFiles({ levels }).flatMap(({ text }) =>
    (parse(text).groups as { rules: PrometheusRule[] }[]).flatMap((group) => group.rules),
  );
  for (const { expr, record, alert } of rules) {
    for (const [clause, inside] of expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)) {
      if (/\bjob\b/.test(inside ?? '')) expect(clause, record ?? alert).toContain('cluster, namespace, ');
    }
    expect(() => namesIn(expr)).not.toThrow();
  }
  expect(
    rules
      .filter(({ alert }) => alert !== undefined)
      .every(({ annotations }) => annotations?.dashboard_url?.includes('var-cluster={{')),
  ).toBe(true);
  expect(grafanaAlerting({ levels }).text).toContain('by (cluster, namespace, job, gen_ai_agent_name');
  const { inhibitRules, groupBy } = alertmanagerParts({ levels });
  for (const { equal } of parse(inhibitRules.text).inhibit_rules)
    expect(equal).toEqual(expect.arrayContaining(levels as never));
  expect(groupBy).toEqual(expect.arrayContaining(levels as never));
  expect(() => ruleFiles({ levels: ['region'] as never })).toThrow(RuleOptionsError);
});
