import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { showsSomething, substitute, variableQueries } from '../dashboards/src/queries.ts';
import { dashboards, panelQueries } from './panels.ts';
import { WAY_NAMES, type Walk } from './walk.ts';
import { asked, inRun } from './walk-dashboards.ts';

const RULES = new URL('../alerts/rules/', import.meta.url);

const SEVERAL = 'it needs several processes of one agent, see dashboards/src/values-fleet-row.test.ts';

const SPENDING = 'no agent here has limits, see dashboards/src/values-spend.test.ts';

const MODELS = 'no model is guarded here, see dashboards/src/values-models.test.ts';

/** Panels that need conditions which do not happen here, and the test that has them. */
const PANELS_ELSEWHERE: Readonly<Record<string, string>> = {
  'Models in range': MODELS,
  'Who answered': MODELS,
  'Calls that no model answered': MODELS,
  'Tokens of models': MODELS,
  'Spend and limits by agent in range': SPENDING,
  'Tokens per hour': SPENDING,
  'Cost per hour': SPENDING,
  'Limits advised and reached': SPENDING,
  'Tools that are open in several processes': SEVERAL,
  'Probes by process': SEVERAL,
};

/** Queries that give nothing here, and why. */
const NOTHING_HERE: Readonly<Record<string, string>> = {
  'Latency percentiles D': 'it is there for its exemplars alone, see dashboards/src/queries.test.ts',
  'Tool health E': 'each failure counts here, see dashboards/src/values-fleet-overview.test.ts',
};

/** Every query of every dashboard, for both ways. */
export const describeQueries = (walk: () => Walk): void => {
  const variables = dashboards.flatMap((one) =>
    variableQueries(one).map((query) => ({ ...query, dashboard: String(one.uid) })),
  );

  describe.each(WAY_NAMES)('Grafana’s queries for metrics that came by %s', (way) => {
    // Over the whole run, instant queries too, because at the end everything works again.
    const here = panelQueries.filter(
      ({ panel, refId }) => PANELS_ELSEWHERE[panel] === undefined && NOTHING_HERE[`${panel} ${refId}`] === undefined,
    );
    test.each(here.map((query) => [query.dashboard, query.panel, query.refId, query] as const))(
      '%s: the query of panel %s %s returns data, and has shown what happened',
      async (_dashboard, _panel, _refId, query) => {
        const { expr } = query;
        const { prometheus, from } = walk();
        const series = await prometheus.range(inRun(expr, asked(way)), from);
        const values = series.flatMap((one) => one.values.map(([, value]) => value));
        expect(values).not.toEqual([]);
        expect(values.every(Number.isFinite)).toBe(true);
        if (showsSomething(query)) expect(values.some((value) => value !== 0)).toBe(true);
      },
    );

    test.each(variables.map((query) => [query.dashboard, query.variable, query] as const))(
      '%s: the variable %s offers values',
      async (_dashboard, _variable, { label, selector }) => {
        expect(await walk().prometheus.labelValues(label, substitute(selector, asked(way)))).not.toEqual([]);
      },
    );
  });
};

const SCENARIOS = 'alert-scenarios.test.ts makes it fire';
const TOKENS = 'no agent here reports tokens, see alerts/tests/spend.test.ts';
const WEEK = 'it needs a week of history and the minutes of a real hour, see alerts/tests';

/** Rules that need conditions which do not happen here, and the test that has them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  BreakerboxCircuitFlapping: SCENARIOS,
  BreakerboxProbeStarved: SCENARIOS,
  BreakerboxToolErrorRateHigh: SCENARIOS,
  BreakerboxBudgetBurnFast: SCENARIOS,
  'job_agent_error:breakerbox_correlated_tools:count': SCENARIOS,
  'job_agent_error:breakerbox_correlated_tools_held:count': SCENARIOS,
  'job_agent_error:breakerbox_correlated_tools_since:min': SCENARIOS,
  'job_agent:breakerbox_sessions_come_and_go:count': 'it needs hours of history, see alerts/tests',
  'job_instance_agent_tool:breakerbox_openings_taken_back:max': 'no group opens here, see alerts/tests/groups.test.ts',
  BreakerboxModelOnFallback: SCENARIOS,
  BreakerboxModelsDown: SCENARIOS,
  BreakerboxFleetDegraded: 'the store always answers here, see alerts/tests/fleet-degraded.test.ts',
  BreakerboxBudgetBurnSlow: 'it takes more than an hour to fire, see alerts/tests',
  BreakerboxToolSlow: WEEK,
  BreakerboxLimitReached: SCENARIOS,
  BreakerboxSpendBurn: SCENARIOS,
  'job_agent_currency:breakerbox_spent_cost:increase1h': SCENARIOS,
  'job_agent:breakerbox_spent_tokens:increase1h': TOKENS,
  'job_agent_currency:breakerbox_spent_cost:mean1w': SCENARIOS,
  'job_agent:breakerbox_spent_tokens:mean1w': TOKENS,
  'job_agent_tool:breakerbox_keys_out_of_use:bool': 'no call has a key here, see alerts/tests/circuit-open.test.ts',
  'job_agent_tool:breakerbox_circuits:crowd10m':
    'it needs more than 20 circuits of a tool, see alerts/tests/correlated.test.ts',
  'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_15m_slow': WEEK,
  'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_15m_sampled': WEEK,
  'job_agent_tool:gen_ai_execute_tool_duration_seconds:p95_median1w': WEEK,
};

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert?: string; readonly record?: string }[] }[];
}

/** Every rule is evaluated without an error, and has returned data. */
export const describeRules = (walk: () => Walk): void => {
  const written = readdirSync(RULES)
    .filter((name) => name.endsWith('.yml'))
    .flatMap((name) => (parse(readFileSync(new URL(name, RULES), 'utf8')) as RuleFile).groups)
    .flatMap(({ rules }) => rules.map(({ alert, record }) => alert ?? record ?? ''));

  describe('the rules', () => {
    test('are all loaded, and healthy', async () => {
      const rules = await walk().prometheus.rules();
      expect(rules.map(({ name }) => name).sort()).toEqual(written.toSorted());
      for (const { name, health, lastError } of rules) {
        expect({ name, health, lastError }).toEqual({ name, health: 'ok', lastError: undefined });
      }
    });

    test('exist, if they are in the list of exceptions', () => {
      expect(written).toEqual(expect.arrayContaining(Object.keys(ELSEWHERE)));
      expect(panelQueries.map(({ panel }) => panel)).toEqual(expect.arrayContaining(Object.keys(PANELS_ELSEWHERE)));
    });

    const here = [...new Set(written)].filter((name) => ELSEWHERE[name] === undefined);
    test.each(here.map((name) => [name]))('%s has returned data', async (name) => {
      const { prometheus, from } = walk();
      const rules = (await prometheus.rules()).filter((rule) => rule.name === name);
      const answers = await Promise.all(rules.map(({ query }) => prometheus.range(query, from)));
      const values = answers.flat().flatMap((series) => series.values.map(([, value]) => value));
      expect(values).not.toEqual([]);
      expect(values.every(Number.isFinite)).toBe(true);
    });
  });
};
