/** Each Grafana-managed rule fires when Prometheus' own rule does, without recorded series. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { grafanaAlerting } from '../src/grafana.ts';
import type { PrometheusRule } from '../src/prometheus.ts';
import { ALERTS, filesOf, promtool, RECORDING, type Scenario, seriesOf } from './bench.ts';
import { agents, SimulatedProcess } from './process.ts';

const HOUR = 3600;
/** A shorter history: a day takes long to evaluate, and an hour tests the same. */
const options = { settings: { slowLeastHistory: '1h', spendLeastHistory: '3h' } };

interface GrafanaFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly title: string;
      readonly for: string;
      readonly annotations: Readonly<Record<string, string>>;
      readonly data: readonly { readonly refId: string; readonly model: { readonly expr?: string } }[];
    }[];
  }[];
}

type GrafanaRule = GrafanaFile['groups'][number]['rules'][number];

/** The labels of the alert that a query of its texts groups by, as templates of Prometheus take them. */
const MATCHED = ['job', 'gen_ai_agent_name', 'gen_ai_tool_name', 'error_type'];

/**
 * A text of Grafana as Prometheus would write it. In both, a value has `.Value` and `.Labels`. Grafana evaluates the queries of all alerts at
 * once, and finds the result that has the labels of the alert.
 */
const asTemplate = (text: string, { data }: GrafanaRule): string =>
  text.replaceAll(/\{\{ with \$values\.([A-Z]) \}\}/g, (_, refId: string) => {
    if (refId === 'A') return '{{ range printf "vector(%.15f)" $value | query }}';
    const expr = data.find((one) => one.refId === refId)?.model.expr ?? '';
    const by = MATCHED.filter((name) =>
      (/(?:topk|sum|count) by \(([^)]*)\)/.exec(expr)?.[1] ?? '').split(', ').includes(name),
    );
    const own = by.reduce((built, name) => `label_replace(${built}, "${name}", %q, "", "")`, 'vector(1)');
    const query = `(${expr.replaceAll('%', '%%')}) and on (${by.join(', ')}) ${own}`;
    return `{{ range printf \`${query}\` ${by.map((name) => `$labels.${name}`).join(' ')} | query }}`;
  });

/** Grafana's rules as Prometheus would run them: the query and `for`. The query contains the time that they are kept. */
const asPrometheus = (file: GrafanaFile): PrometheusRule[] =>
  file.groups.flatMap(({ rules }) =>
    rules.map((rule) => ({
      alert: `${rule.title.replace(/ .*/, '')}Grafana`,
      expr: rule.data[0]?.model.expr ?? '',
      for: rule.for,
      labels: { scope: /\((\w+)\)/.exec(rule.title)?.[1] ?? '' },
      annotations: Object.fromEntries(
        ['summary', 'description'].map((name) => [name, asTemplate(rule.annotations[name] ?? '', rule)]),
      ),
    })),
  );

interface Case {
  readonly alert: string;
  readonly lasts: number;
  /** When the texts are read. Default: after half an hour. */
  readonly at?: number;
  /** Labels of the alert, besides its job and its agent if it has these. Default: a tool `t`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Title and description, if they read what more queries find. */
  readonly says?: readonly [summary: string, description: string];
  readonly processes?: readonly SimulatedProcess[];
  second(now: number, one: SimulatedProcess): void;
}

/** Sessions of one minute. Of five, this many fall to one failure left. */
const burnt = (one: SimulatedProcess, now: number, low: number): void => {
  if (now > 0 && now % 60 === 0) one.end();
  if (now > 0 && now % 60 === 0) one.begin();
  if (now % 60 === 30 && ((now - 30) / 60) % 5 < low) {
    one.fallLow();
    one.call('t', 'server', 2);
    one.call('u', 'timeout');
  }
};

const between = (now: number, from: number, to: number): boolean => now > from && now < to;
const fleet = agents(['1', '2', '3']);

const MODELS = ['model:anthropic/claude', 'model:openai/gpt'] as const;

/** Each scenario fails after about half an hour, and recovers. One to three agents, because promtool holds 10,000 samples per query. */
const CASES: readonly Case[] = [
  {
    alert: 'CircuitOpen',
    lasts: HOUR,
    says: [
      'a: t is out of use (network)',
      't of agent a (job fleet) has been out of use for more than 5 minutes. Affected within the last 2 minutes: 1 circuit. Its calls are skipped. Check the service behind it. A probe closes the circuit once it works. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
    ],
    second: (now, one) => {
      if (now === 605) one.open(now, 't');
      if (now === 2005) one.probe('t', 'success');
      // Too short. The time that it is kept must not make it long enough.
      if (now === 2905) one.open(now, 't');
      if (now === 3105) one.probe('t', 'success');
    },
  },
  {
    alert: 'CircuitFlapping',
    lasts: HOUR,
    says: [
      'a: t opens again and again (network)',
      'Circuits of tool t of agent a (job fleet) have opened 5 times each on average within 15 minutes. Either the tool fails and recovers again and again, or it is down and the circuit of each new session opens again. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
    ],
    second: (now, one) => {
      if (between(now, 600, 2000) && now % 180 === 60) one.open(now, 't');
      if (between(now, 670, 2060) && now % 180 === 120) one.probe('t', 'success');
    },
  },
  {
    alert: 'ProbeStarved',
    lasts: HOUR,
    says: [
      'a: t is open and not probed (network)',
      'Tool t of agent a (job fleet): 1 circuit has been open for 10 minutes. The agent asks for the tool, but its calls are skipped and none runs as a probe. The service did not ask for this wait. Without a probe, Breakerbox cannot see that the tool works again. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
    ],
    second: (now, one) => {
      if (now === 605) one.open(now, 't');
      if (between(now, 605, 2000) && now % 20 === 0) one.skip('t');
      if (now === 2005) one.probe('t', 'success');
    },
  },
  {
    alert: 'ToolErrorRateHigh',
    lasts: HOUR,
    says: [
      'a: t fails too often (server)',
      '50% of the calls to tool t of agent a (job fleet) have failed over the last 5 minutes, and more than 25 % over the last hour. Too few fail in a row to keep a circuit open, so the agent continues, and each failure costs it time and budget. Check the service behind it. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.',
    ],
    second: (now, one) => {
      if (now % 10 === 0) one.call('t', between(now, 300, 2400) && now % 20 === 0 ? 'server' : 'success');
    },
  },
  {
    alert: 'ToolSlow',
    lasts: 3.2 * HOUR,
    second: (now, one) => {
      if (now % 10 === 0) one.call('t', 'success', 1, between(now, 2 * HOUR, 2.8 * HOUR) ? 4 : 0.5);
    },
  },
  {
    alert: 'BudgetBurnFast',
    lasts: 2.5 * HOUR,
    processes: [new SimulatedProcess({ tools: ['t', 'u'] })],
    labels: {},
    says: [
      'a: sessions use up their failure budgets: t (server) and 1 more',
      '97% of the sessions that agent a (job fleet) had in the last hour ran low: at most one failure is left in their budget. Over 5 minutes, this share was also more than 50 %, now or at most 15 minutes ago. The next failure that is charged pauses such a session. Tools that failed in the last 30 minutes: t (server) and 1 more. Repair the tools that fail. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.',
    ],
    second: (now, one) => burnt(one, now, now < 1.5 * HOUR ? 5 : 0),
  },
  {
    // Fast, then slow, then not at all: silent after the first, and kept after the second.
    alert: 'BudgetBurnSlow',
    lasts: 4.5 * HOUR,
    processes: [new SimulatedProcess({ tools: ['t', 'u'] })],
    at: 2.4 * HOUR,
    labels: {},
    says: [
      'a: sessions have been short of failure budget for hours: t (server) and 1 more',
      '69% of the sessions that agent a (job fleet) had in the last 6 hours ran low: at most one failure is left in their budget. Over 30 minutes, this share was also more than 25 %, now or at most 1 hour ago. The next failure that is charged pauses such a session. Tools that failed in the last 30 minutes: t (server) and 1 more. Repair the tools that fail. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.',
    ],
    second: (now, one) => burnt(one, now, now < 1.2 * HOUR ? 5 : now < 2.5 * HOUR ? 2 : 0),
  },
  {
    alert: 'BudgetExhausted',
    lasts: HOUR,
    processes: [new SimulatedProcess({ tools: ['t', 'u'] })],
    labels: {},
    says: [
      'a: sessions are out of failure budget: t (server) and 1 more',
      'Agent a (job fleet): 1 session is paused, because its failure budget is used up. A paused session calls no tool until you resume it. Tools that failed in the last 30 minutes: t (server) and 1 more. Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.',
    ],
    second: (now, one) => {
      if (now === 605) {
        one.call('t', 'server', 2);
        one.call('u', 'server');
        one.pause('paused_budget');
      }
      if (now === 2005) one.pause('paused_budget', -1);
    },
  },
  {
    alert: 'SystemicFailure',
    lasts: HOUR,
    processes: [new SimulatedProcess({ tools: ['t', 'u'] })],
    labels: {},
    says: [
      'a: t and 1 more fail together (network)',
      'Agent a (job fleet) has recognised failures of several tools as one event. Tools that failed: t (server) and 1 more. Suspected: network. 1 session is paused for every tool. Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.',
    ],
    second: (now, one) => {
      if (now === 605) {
        one.call('t', 'server', 2);
        one.call('u', 'server');
        one.pause('paused_systemic');
      }
      if (now === 2005) one.pause('paused_systemic', -1);
    },
  },
  {
    // There without a break, for longer than a habit takes.
    alert: 'TelemetryAbsent',
    lasts: 14 * HOUR,
    second: (now, one) => {
      if (now === 13 * HOUR) one.stop();
      if (now === 13.5 * HOUR) one.start();
    },
  },
  {
    alert: 'FleetDegraded',
    lasts: HOUR,
    processes: [new SimulatedProcess({ fleet: true })],
    second: (now, one) => {
      if (now === 605) one.store('degraded');
      if (now === 2005) one.store('up');
    },
  },
  {
    alert: 'ModelOnFallback',
    lasts: HOUR,
    processes: [new SimulatedProcess({ tools: MODELS })],
    labels: { gen_ai_tool_name: MODELS[0] },
    says: [
      'a: another model answers for model:anthropic/claude (timeout)',
      'model:anthropic/claude, the first model of agent a (job fleet), has answered nothing for 5 minutes. Other models of its list answer, so users see no error. Check its key, its credit and the status page of its provider. It is probed by real calls, and answers again by itself. To see why and when the next probe is due: breakerbox ctl list.',
    ],
    second: (now, one) => {
      const fails = between(now, 600, 2000);
      if (now % 10 === 0) one.answer(MODELS[fails ? 1 : 0], MODELS[0]);
      if (now % 10 === 0 && fails) one.call(MODELS[0], 'timeout');
    },
  },
  {
    alert: 'ModelsDown',
    lasts: HOUR,
    processes: [new SimulatedProcess({ tools: MODELS })],
    labels: { gen_ai_tool_name: MODELS[0] },
    says: [
      'a: neither model:anthropic/claude nor another model answers (server)',
      'Agent a (job fleet) has had no answer of model:anthropic/claude or of the models behind it for 5 minutes. Its runs fail. Check keys, credit and the status pages of the providers, and the way to them. Each model is probed by real calls. To see why each is unavailable and until when: breakerbox ctl list.',
    ],
    second: (now, one) => {
      if (now % 10 !== 0) return;
      if (between(now, 600, 2000)) {
        one.call(MODELS[0], 'server');
        one.unanswered(MODELS[0]);
      } else one.answer(MODELS[0], MODELS[0]);
    },
  },
  {
    alert: 'LimitReached',
    lasts: HOUR,
    at: 900,
    labels: {},
    says: [
      'a: runs have reached a limit (calls)',
      'Agent a (job fleet): 1 session is paused by a limit. A paused session calls no tool until its limit is extended. Its calls have not failed: look at what the run has done, and whether it goes in circles. To see sessions and limits: breakerbox ctl list. To let a run go on: breakerbox ctl extend SESSION LIMIT AMOUNT.',
    ],
    second: (now, one) => {
      if (now === 605) one.limit('reached');
      if (now === 605) one.pause('paused_limit');
      if (now === 1205) one.pause('paused_limit', -1);
    },
  },
  {
    alert: 'SpendBurn/cost',
    lasts: 6 * HOUR,
    second: (now, one) => {
      if (now % 60 === 0) one.spend(0, between(now, 4 * HOUR + 150, 4 * HOUR + 1400) ? 20 : 0.1);
    },
  },
  {
    alert: 'CorrelatedOpenings/agent',
    lasts: HOUR,
    processes: [new SimulatedProcess({ tools: ['x', 'y', 'z'] })],
    labels: { error_type: 'network', scope: 'agent' },
    says: [
      'a: z and 2 more opened together (network)',
      'At least 3 tools of agent a (job fleet) opened within 2 minutes of each other with errors of category network, or did so earlier and are still out of use: z and 2 more. Look for what these tools share. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
    ],
    second: (now, one) => {
      ['x', 'y', 'z'].forEach((tool, index) => {
        if (now === 605 + index * 20) one.open(now, tool);
        if (now === 2005) one.probe(tool, 'success');
      });
    },
  },
  {
    alert: 'CorrelatedOpenings/fleet',
    lasts: HOUR,
    processes: fleet,
    labels: { gen_ai_tool_name: 't', error_type: 'server', scope: 'fleet' },
    says: [
      't opened on several agents together (server)',
      'Tool t (all jobs) opened on at least 3 agents within 2 minutes with errors of category server, or did so earlier and is still out of use there: 3 and 2 more. Look at the service behind the tool. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
    ],
    second: (now, one) => {
      if (now === 605 + fleet.indexOf(one) * 20) one.open(now, 't', 'server');
      if (now === 2005) one.probe('t', 'success');
    },
  },
];

it('reads a value only where there is one, because Grafana renders the texts of a rule without data too', () => {
  const file: GrafanaFile = parse(grafanaAlerting(options).text);
  const texts = file.groups.flatMap(({ rules }) => rules).flatMap(({ annotations }) => Object.values(annotations));
  const reads = texts.flatMap((text) => text.match(/\{\{[^}]*\$values[^}]*\}\}/g) ?? []);
  expect(reads.length).toBeGreaterThan(0);
  for (const read of reads) expect(read).toMatch(/^\{\{ with \$values\.[A-Z] \}\}$/);
});

it('does not say what Alertmanager mutes, because Grafana mutes nothing', () => {
  const file: GrafanaFile = parse(grafanaAlerting(options).text);
  const texts = file.groups.flatMap(({ rules }) => rules).flatMap(({ annotations }) => Object.values(annotations));
  expect(texts.filter((text) => text.includes('Alertmanager'))).toEqual([]);
});

describe('the names in the texts', () => {
  const rules = (parse(grafanaAlerting().text) as GrafanaFile).groups.flatMap((group) => group.rules);
  const ruleOf = (name: string) => rules.find(({ title }) => title.replace(/ .*/, '') === `Breakerbox${name}`);
  const exprOf = (name: string, refId: string): string =>
    ruleOf(name)?.data.find((one) => one.refId === refId)?.model.expr ?? '';
  const A = 'job="fleet", gen_ai_agent_name="a"';
  const none = { labels: '{none="none"}', value: 0 };

  it('are those of the tools that fail together, the one with the most failures first, and how many more', async () => {
    expect(ruleOf('SystemicFailure')?.annotations.summary).toBe(
      '{{ $labels.gen_ai_agent_name }}: {{ with $values.D }}{{ .Labels.gen_ai_tool_name }}{{ with $values.E }} and {{ printf "%.0f" .Value }} more{{ end }}{{ else }}several tools{{ end }} fail together{{ with $values.F }} ({{ .Labels.error_type }}{{ with $values.G }} and {{ printf "%.0f" .Value }} more{{ end }}){{ end }}',
    );
    const scenario: Scenario = {
      interval: 60,
      lasts: HOUR,
      processes: [new SimulatedProcess({ tools: ['x', 'y', 'z', 'other'] })],
    };
    const input_series = seriesOf(scenario, (now, one) => {
      // Long before.
      if (now === 100) one.call('z', 'network', 50);
      if (now === 3000) one.call('x', 'network', 2);
      if (now === 3000) one.call('y', 'network', 5);
      if (now === 3000) one.call('z', 'network', 1);
      if (now === 3000) one.call('other', 'server', 9);
      if (now === 3000) one.pause('paused_systemic');
    });
    const { description = '' } = ruleOf('SystemicFailure')?.annotations ?? {};
    const [, paused = ''] =
      /\$values\.(\w) \}\}\{\{ if eq \.Value 1\.0 \}\}1 session is paused/.exec(description) ?? [];
    const is = (eval_time: string, name: string, refId: string, labels?: string, value = 0) => ({
      expr: exprOf(name, refId),
      eval_time,
      exp_samples: [...(labels === undefined ? [] : [{ labels: `{${labels}}`, value }]), none],
    });
    await promtool([], [[]], 60, {
      interval: '60s',
      input_series,
      promql_expr_test: [
        is('40m', 'SystemicFailure', 'D'),
        is('40m', 'SystemicFailure', 'F'),
        is('55m', 'SystemicFailure', 'D', `${A}, gen_ai_tool_name="y"`, 5),
        is('55m', 'SystemicFailure', 'E', A, 2),
        is('55m', 'SystemicFailure', 'F', `${A}, error_type="network"`, 1),
        is('55m', 'SystemicFailure', 'G'),
        // How many sessions are paused.
        is('40m', 'SystemicFailure', paused),
        is('55m', 'SystemicFailure', paused, A, 1),
        is('55m', 'BudgetExhausted', 'D', `${A}, gen_ai_tool_name="other", error_type="server"`, 9),
        is('55m', 'BudgetExhausted', 'E', A, 3),
      ],
    });
  });

  it('of a tool are its error', async () => {
    const scenario: Scenario = { interval: 60, lasts: HOUR };
    const input_series = seriesOf(scenario, (now, one) => {
      if (now === 3000) one.open(now, 't', 'timeout');
    });
    const exp_samples = [{ labels: `{${A}, gen_ai_tool_name="t", error_type="timeout"}`, value: 3000 }, none];
    await promtool([], [[]], 60, {
      interval: '60s',
      input_series,
      promql_expr_test: [{ expr: exprOf('CircuitOpen', 'D'), eval_time: '55m', exp_samples }],
    });
  });
});

it('are read in a case for each rule that has more queries', () => {
  const file: GrafanaFile = parse(grafanaAlerting(options).text);
  const more = file.groups.flatMap(({ rules }) => rules).filter(({ data }) => data.length > 2);
  const read = CASES.flatMap(({ alert, says }) =>
    says === undefined ? [] : [`Breakerbox${alert.replace(/\/(.*)/, ' ($1)')}`],
  );
  expect(more.map(({ title }) => title).toSorted()).toEqual(read.toSorted());
});

const BY = 'alertname, scope, job, gen_ai_agent_name, gen_ai_tool_name, error_type';

it.concurrent.each(CASES)(
  '$alert fires at the same times, within two evaluations, and its texts read what their queries find',
  async ({ alert, lasts, at = 1800, labels = { gen_ai_tool_name: 't' }, says, processes, second }) => {
    const scenario: Scenario = {
      interval: 60,
      lasts,
      options,
      of: [alert.replace(/\/.*/, '')],
      missed: (now) => now === 1500,
      ...(processes && { processes }),
    };
    const rules = asPrometheus(parse(grafanaAlerting(options).text)).filter(
      (rule) => rule.alert === `Breakerbox${alert.replace(/\/.*/, '')}Grafana`,
    );
    const managed = { groups: [{ name: 'grafana', interval: '1m', rules }] };
    const files = [...filesOf(scenario), { name: 'grafana.yml', text: JSON.stringify(managed) }];
    const firing = (selector: string): string =>
      `max by (${BY}) (label_replace(ALERTS{alertstate="firing", alertname${selector}}, "alertname", "$1", "alertname", "(.*?)(?:Grafana)?"))`;
    const ruler = firing('!~".*Grafana"');
    const grafana = firing('=~".*Grafana"');
    const near = (expr: string): string => `max_over_time((${expr})[5m:1m] offset -150s)`;
    const text = says && {
      eval_time: `${at}s`,
      alertname: `Breakerbox${alert.replace(/\/.*/, '')}Grafana`,
      exp_alerts: [
        {
          exp_labels: labels.scope === 'fleet' ? labels : { job: 'fleet', gen_ai_agent_name: 'a', ...labels },
          exp_annotations: { summary: says[0], description: says[1] },
        },
      ],
    };
    const moments = Array.from({ length: lasts / 60 - 4 }, (_, index) => `${(index + 1) * 60}s`);
    await promtool(files, [[...RECORDING, ...ALERTS, 'grafana']], 60, {
      interval: '60s',
      input_series: seriesOf(scenario, (now, ...all) => {
        for (const one of all) second(now, one);
      }),
      promql_expr_test: [
        ...moments.flatMap((eval_time) => [
          { expr: `${grafana} unless ${near(ruler)}`, eval_time, exp_samples: [] },
          { expr: `${ruler} unless ${near(grafana)}`, eval_time, exp_samples: [] },
        ]),
        {
          expr: `count(count by (alertname, scope) (max_over_time((${grafana})[${lasts}s:1m])))`,
          eval_time: `${lasts}s`,
          exp_samples: [{ labels: '{}', value: 1 }],
        },
      ],
      alert_rule_test: text === undefined ? [] : [text],
    });
  },
);
