import { describe, expect, it } from 'vitest';
import { NO_RULES, RULES_LOADED } from './alert-state.ts';
import { UID } from './links.ts';
import { RECORDED } from './recorded.ts';
import { exprOf, proved, SOURCE } from './test-support.ts';

const FLEET = UID.fleetOverview;

describe('the state of a circuit over time', () => {
  const expr = exprOf(UID.fleetOverview, 'Circuits over time');
  const ALL = ['closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only'] as const;
  type Counts = Partial<Record<(typeof ALL)[number], number>>;

  it.each<[string, Counts, number]>([
    ['closed', { closed: 2 }, 0],
    ['half-open', { closed: 1, half_open: 1 }, 2],
    ['open', { closed: 1, open: 1 }, 3],
    ['open, others half-open', { open: 2, half_open: 1 }, 5],
    ['open if it is forced open', { forced_open: 1 }, 3],
    ['by hand if it is switched off, not closed', { disabled: 2 }, 1],
    ['by hand if it only observes, not closed', { closed: 1, observe_only: 1 }, 1],
    ['the worse one if another is open', { disabled: 1, open: 1 }, 3],
    ['closed if a tool has no circuit', {}, 0],
  ])('is %s', async (_, counts, value) => {
    const samples = Object.fromEntries(
      ALL.map((state) => [
        `breakerbox_circuits{${SOURCE}, gen_ai_tool_name="t", breakerbox_state="${state}"}`,
        `${counts[state] ?? 0}x10`,
      ]),
    );
    const gives = [{ labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"}', value }];
    await proved({ samples, expr, at: '10m', gives });
  });
});

const sessions = (labels: string, state = 'active'): string =>
  `breakerbox_sessions{${labels}, breakerbox_session_state="${state}"}`;
const agent = (name: string, job = 'j', instance = 'i'): string =>
  `job="${job}", instance="${instance}", gen_ai_agent_name="${name}"`;
const total = (value: number) => [{ labels: '{}', value }];

describe('agents', () => {
  it('are counted once for all their instances, and in each of their jobs', async () => {
    const samples = {
      [sessions(agent('a', 'j', '1'))]: '1x10',
      [sessions(agent('a', 'j', '2'))]: '1x10',
      [sessions(agent('a', 'k'))]: '0x10',
    };
    await proved({ samples, expr: exprOf(FLEET, 'Agents'), at: '10m', gives: total(2) });
  });

  it.each<[string, Readonly<Record<string, string>>, string, number]>([
    ['one that reported for long and stopped', { [agent('a')]: '1x20', [agent('b')]: '1x40' }, '40m', 1],
    ['one that is down in one of its jobs', { [agent('a')]: '1x20', [agent('a', 'k')]: '1x40' }, '40m', 1],
    ['all, so that no agent reports', { [agent('a')]: '1x20', [agent('b')]: '1x20' }, '40m', 2],
    ['none that reports', { [agent('a')]: '1x40' }, '40m', 0],
    ['none that ran for a short while and ended', { [agent('a')]: '1x6', [agent('b')]: '1x40' }, '40m', 0],
    ['none whose restart takes three minutes', { [agent('a')]: '1x20 _x3 0x10' }, '23m', 0],
    ['none whose other instance reports', { [agent('a')]: '1x20', [agent('a', 'j', '2')]: '1x40' }, '40m', 0],
    ['none that stopped more than an hour ago', { [agent('a')]: '1x20', [agent('b')]: '1x90' }, '90m', 0],
  ])('that have vanished are %s', async (_, reported, at, value) => {
    const samples = Object.fromEntries(Object.entries(reported).map(([labels, values]) => [sessions(labels), values]));
    await proved({ samples, expr: exprOf(FLEET, 'Vanished'), at, gives: total(value) });
  });

  it('that come and go have not vanished: a nightly job of half an hour does not count once it has been seen for long', async () => {
    // Several nights, and another agent that was there all the time.
    const night = `1x29 _x1409 1x29 _x1409 1x29 _x60`;
    const samples = {
      [sessions(agent('nightly'))]: night,
      [sessions(agent('always'))]: '1x2909 _x60',
      [sessions(agent('new'))]: '_x2879 1x29 _x60',
    };
    const gives = [
      { labels: '{job="j", gen_ai_agent_name="always"}', value: 4 },
      { labels: '{job="j", gen_ai_agent_name="new"}', value: 4 },
    ];
    await proved({ samples, expr: exprOf(FLEET, 'Agents by state'), at: '2920m', gives });
  });

  it('have the state of their worst session, and are listed when they have vanished', async () => {
    const samples = {
      [sessions(agent('working'))]: '2x40',
      [sessions(agent('working'), 'paused_budget')]: '0x40',
      // Scope process: an event is active, and no session is paused.
      [sessions(agent('skipping'))]: '2x40',
      [`breakerbox_systemic_active{${agent('skipping')}}`]: '1x40',
      [sessions(agent('spent', 'j', '1'))]: '2x40',
      [sessions(agent('spent', 'j', '2'), 'paused_budget')]: '3x40',
      [sessions(agent('held'), 'paused_budget')]: '1x40',
      [sessions(agent('held'), 'paused_systemic')]: '1x40',
      [sessions(agent('gone'))]: '1x20',
      [sessions(agent('gone', 'staging'))]: '1x40',
    };
    const gives = [
      ...Object.entries({ working: 0, skipping: 1, spent: 2, held: 3, gone: 4 }).map(([name, value]) => ({
        labels: `{job="j", gen_ai_agent_name="${name}"}`,
        value,
      })),
      { labels: '{job="staging", gen_ai_agent_name="gone"}', value: 0 },
    ];
    await proved({ samples, expr: exprOf(FLEET, 'Agents by state'), at: '40m', gives });
  });
});

describe('tool health', () => {
  const tool = (name: string, more: string, instance = 'i') =>
    `${agent('a', 'j', instance)}, gen_ai_tool_name="${name}", ${more}`;
  const openedAt = (name: string, error: string, instance?: string) =>
    `breakerbox_circuit_opened_time_seconds{${tool(name, `error_type="${error}"`, instance)}}`;
  const since = (name: string, instance: string) =>
    `breakerbox_circuit_unavailable_time_seconds{${agent('a', 'j', instance)}, gen_ai_tool_name="${name}"}`;
  const circuits = (name: string) => ({
    [`breakerbox_circuits{${tool(name, 'breakerbox_state="open"')}}`]: '0x10',
    [`breakerbox_circuits{${tool(name, 'breakerbox_state="closed"')}}`]: '1x10',
  });

  it('says how long a tool has been unavailable, and with which error it opened last, among all instances; 0 for one that is not', async () => {
    const samples = {
      ...circuits('t'),
      ...circuits('never'),
      [openedAt('t', 'network')]: '100x10',
      [openedAt('t', 'timeout', '1')]: '300x10',
      [openedAt('t', 'timeout', '2')]: '200x10',
      [since('t', '1')]: '250x10',
      [since('t', '2')]: '150x10',
      ...circuits('closed'),
      [openedAt('closed', 'server')]: '400x10',
      ...circuits('forced'),
      [since('forced', '1')]: '500x10',
    };
    const gives = [
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t", error_type="timeout"}', value: 450 },
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="closed", error_type="server"}', value: 0 },
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="forced"}', value: 100 },
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="never"}', value: 0 },
    ];
    await proved({ samples, expr: exprOf(FLEET, 'Tool health', 'D'), at: '10m', gives });
  });

  it('lists tools that are open now first, the newest outage first, then those that opened last', async () => {
    const states = (name: string, open: string) => ({
      [`breakerbox_circuits{${tool(name, 'breakerbox_state="open"')}}`]: open,
      [`breakerbox_circuits{${tool(name, 'breakerbox_state="closed"')}}`]: '1x10',
    });
    const samples = {
      ...states('fine', '0x10'),
      ...states('was', '1x8 0 0'),
      ...states('now', '0x8 1 1'),
      ...states('old', '1x10'),
      // It opens again and again, in one session after the other.
      [since('old', 'i')]: '30x10',
      [openedAt('old', 'network')]: '400x10',
      [openedAt('was', 'network')]: '100x10',
      [openedAt('now', 'network')]: '50x10',
    };
    const order = exprOf(FLEET, 'Tool health').replace(/^topk\(\d+, (.*)\) \* 0 \+ .*$/s, '$1');
    const gives = [
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="now"}', value: 3e10 + 50 },
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="old"}', value: 3e10 + 30 },
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="was"}', value: 100 },
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="fine"}', value: 0 },
    ];
    await proved({ samples, expr: order, at: '10m', range: '9m', gives });
  });

  it('shows shares of executed calls and of decisions over all instances, and none without calls', async () => {
    const outcomes = (outcome: string, instance: string) =>
      `breakerbox_outcomes_total{${tool('t', `breakerbox_outcome="${outcome}"`, instance)}}`;
    const samples = {
      ...circuits('t'),
      ...circuits('idle'),
      [outcomes('success', '1')]: '0+60x10',
      [outcomes('failure', '2')]: '0+20x10',
      [outcomes('ignored', '2')]: '0+500x10',
      [`breakerbox_outcomes_total{${tool('idle', 'breakerbox_outcome="success"')}}`]: '7x10',
    };
    const gives = [
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"}', value: 0.25 },
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="idle"}', value: 0 },
    ];
    await proved({ samples, expr: exprOf(FLEET, 'Tool health', 'B'), at: '10m', gives });
  });

  it('shows an outage from its first minute: the shares of the last 5 minutes, whatever was before', async () => {
    const outcomes = (outcome: string) => `breakerbox_outcomes_total{${tool('t', `breakerbox_outcome="${outcome}"`)}}`;
    const decisions = (decision: string, reason: string) =>
      `breakerbox_decisions_total{${tool('t', `breakerbox_decision="${decision}", breakerbox_reason="${reason}"`)}}`;
    const samples = {
      [`breakerbox_circuits{${tool('t', 'breakerbox_state="open"')}}`]: '0x60 1 1',
      // An hour of ten calls a minute, then a minute of failures, then one of skips.
      [outcomes('success')]: '0+10x60 600x2',
      [outcomes('failure')]: '0x60 10 10',
      [decisions('call', 'closed')]: '0+10x60 610 610',
      [decisions('skip', 'open')]: '0x60 0 10',
    };
    const labels = '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"}';
    for (const [refId, value] of [
      ['B', 0.25],
      ['C', 0.2],
    ] as const) {
      const expr = `round(${exprOf(FLEET, 'Tool health', refId)}, 0.01)`;
      await proved({ samples, expr, at: '62m', range: '1h', gives: [{ labels, value }] });
    }
  });

  it('O8: shows the share of calls with an error that is not counted, without cancelled calls and those that count for a key', async () => {
    const ended = (outcome: string) => `breakerbox_outcomes_total{${tool('t', `breakerbox_outcome="${outcome}"`)}}`;
    const error = (category: string) =>
      `breakerbox_errors_total{${tool('t', `breakerbox_outcome="ignored", error_type="${category}"`)}}`;
    const samples = {
      ...circuits('t'),
      ...circuits('idle'),
      [ended('success')]: '0+10x10',
      [ended('ignored')]: '0+90x10',
      [error('tool_error')]: '0+70x10',
      [error('invalid_input')]: '0+10x10',
      [error('cancelled')]: '0+5x10',
      [`breakerbox_errors_total{${tool('t', 'breakerbox_outcome="ignored", breakerbox_blames="key", error_type="network"')}}`]:
        '0+5x10',
      [`breakerbox_outcomes_total{${tool('idle', 'breakerbox_outcome="success"')}}`]: '7x10',
    };
    const gives = [{ labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"}', value: 0.8 }];
    await proved({ samples, expr: `round(${exprOf(FLEET, 'Tool health', 'E')}, 0.01)`, at: '10m', gives });
  });
});

describe('the failure rate by tool', () => {
  it('is the rate of the alert, without ignored outcomes', async () => {
    const came = (outcome: string) =>
      `breakerbox_outcomes_total{${agent('a')}, gen_ai_tool_name="t", breakerbox_outcome="${outcome}"}`;
    const samples = {
      [sessions(agent('a'))]: '1x60',
      [came('success')]: '0+2x60',
      [came('failure')]: '0+2x60',
      [came('ignored')]: '0+6x60',
    };
    for (const expr of [exprOf(FLEET, 'Failure rate by tool'), exprOf(UID.toolDetail, 'Failed 5m')]) {
      const labels = expr === exprOf(UID.toolDetail, 'Failed 5m') ? '{}' : '{gen_ai_tool_name="t"}';
      await proved({ samples, expr, at: '60m', range: '50m', gives: [{ labels, value: 0.5 }] });
    }
  });
});

describe('firing alerts', () => {
  const expr = exprOf(FLEET, 'Firing alerts');
  const loaded = { [`${RULES_LOADED}{job="j"}`]: '0x10' };
  const reporting = { [sessions(SOURCE)]: '1x10' };
  const alert = (name: string, severity: string, more = '', state = 'firing') =>
    `ALERTS{alertname="${name}", severity="${severity}", alertstate="${state}"${more}}`;

  it('have their severity, for one tool, one agent or several', async () => {
    const samples = {
      ...loaded,
      ...reporting,
      [`${RECORDED.outOfUse}{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"}`]: '1x10',
      [sessions(SOURCE, 'paused_budget')]: '1x10',
      [`${RECORDED.correlatedAgentsHeld}{gen_ai_tool_name="t", error_type="network"}`]: '3x10',
      [alert('BreakerboxCircuitOpen', 'warning', ', job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"')]: '1x10',
      [alert('BreakerboxSystemicFailure', 'critical', ', job="j", gen_ai_agent_name="a"')]: '1x10',
      [alert('BreakerboxBudgetExhausted', 'critical', ', job="j", gen_ai_agent_name="a"')]: '1x10',
      [alert('BreakerboxCorrelatedOpenings', 'critical', ', gen_ai_tool_name="t", error_type="network"')]: '1x10',
      [alert('BreakerboxToolSlow', 'warning', ', job="j", gen_ai_agent_name="a"', 'pending')]: '1x10',
      ...Object.fromEntries(
        [
          'alertname="BreakerboxCircuitOpen", severity="warning", job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"',
          'alertname="BreakerboxSystemicFailure", severity="critical", job="j", gen_ai_agent_name="a"',
          'alertname="BreakerboxBudgetExhausted", severity="critical", job="j", gen_ai_agent_name="a"',
          'alertname="BreakerboxCorrelatedOpenings", severity="critical", gen_ai_tool_name="t", error_type="network"',
        ].map((labels) => [`ALERTS_FOR_STATE{${labels}}`, '60x10']),
      ),
      [alert('OtherTeams', 'critical')]: '1x10',
    };
    const row = (name: string, dashboard: string, value: number, [job, agent, tool]: readonly string[]) => ({
      labels: `{${[
        `alertname="${name}"`,
        ...(job === 'All' ? [] : [`job="${job}"`]),
        ...[
          ['agent', agent],
          ['tool', tool],
        ].flatMap(([of, one]) => {
          if (one !== 'All') return [`gen_ai_${of}_name="${one}"`];
          return /Systemic|Correlated/.test(name) ? [`gen_ai_${of}_name="several"`] : [];
        }),
        `link_runbook="${name}", link_dashboard="${dashboard}", link_job="${job}", link_agent="${agent}", link_tool="${tool}"`,
      ].join(', ')}}`,
      value,
    });
    // In a link, a label that the alert does not have means all values. The dash of an empty cell would select nothing.
    const gives = [
      row('BreakerboxCircuitOpen', UID.toolDetail, 2, ['j', 'a', 't']),
      row('BreakerboxBudgetExhausted', UID.failureBudget, 3, ['j', 'a', 'All']),
      row('BreakerboxCorrelatedOpenings', UID.correlatedFailures, 3, ['All', 'All', 't']),
      // Its event has ended, and the alert is only kept.
      row('BreakerboxSystemicFailure', UID.correlatedFailures, 1, ['j', 'a', 'All']),
    ];
    await proved({ samples, expr, at: '10m', gives });
    await proved({ samples, expr: exprOf(FLEET, 'Alerts'), at: '10m', gives: total(3) });
  });

  it('are over when no limit pauses a session and none was reached, and when no session falls low', async () => {
    const kept = (name: string, severity: string, agent: string) =>
      alert(`Breakerbox${name}`, severity, `, job="j", gen_ai_agent_name="${agent}"`);
    const since = (name: string, severity: string, agent: string) =>
      `ALERTS_FOR_STATE{alertname="Breakerbox${name}", severity="${severity}", job="j", gen_ai_agent_name="${agent}"}`;
    const all = [
      ['LimitReached', 'warning', 'over', 1],
      ['LimitReached', 'warning', 'paused', 2],
      ['LimitReached', 'warning', 'again', 2],
      ['BudgetBurnFast', 'critical', 'over', 1],
      ['BudgetBurnFast', 'critical', 'paused', 3],
    ] as const;
    const samples = {
      ...loaded,
      ...reporting,
      [sessions(agent('paused'), 'paused_limit')]: '1x10',
      [`breakerbox_limits_total{${agent('again')}, breakerbox_limit="calls", breakerbox_limit_level="reached"}`]:
        '0x8 1x2',
      [`${RECORDED.burnFast}{job="j", gen_ai_agent_name="paused"}`]: '1x10',
      ...Object.fromEntries(all.map(([name, severity, of]) => [kept(name, severity, of), '1x10'])),
      ...Object.fromEntries(all.map(([name, severity, of]) => [since(name, severity, of), '60x10'])),
    };
    const linksOf = (name: string, of: string) =>
      `link_runbook="Breakerbox${name}", link_dashboard="breakerbox-failure-budget", link_job="j", link_agent="${of}", link_tool="All"`;
    const gives = all.map(([name, , of, value]) => ({
      labels: `{alertname="Breakerbox${name}", job="j", gen_ai_agent_name="${of}", ${linksOf(name, of)}}`,
      value,
    }));
    await proved({ samples, expr, at: '10m', gives });
  });

  it('are over when the tools or agents that opened together are in use again', async () => {
    const agents = ['held', 'over'].map((one) => `job="j", gen_ai_agent_name="${one}"`);
    const tools = ['held', 'over'].map((one) => `gen_ai_tool_name="${one}"`);
    const samples = {
      ...loaded,
      ...reporting,
      [`${RECORDED.correlatedToolsHeld}{${agents[0]}, error_type="network"}`]: '3x10',
      [`${RECORDED.correlatedToolsHeld}{${agents[1]}, error_type="network"}`]: '3x3',
      [`${RECORDED.correlatedAgentsHeld}{${tools[0]}, error_type="network"}`]: '3x10',
      ...Object.fromEntries(
        [...agents, ...tools].flatMap((of) => [
          [alert('BreakerboxCorrelatedOpenings', 'critical', `, ${of}, error_type="network"`), '1x10'],
          [
            `ALERTS_FOR_STATE{alertname="BreakerboxCorrelatedOpenings", severity="critical", ${of}, error_type="network"}`,
            '60x10',
          ],
        ]),
      ),
    };
    const links = 'link_runbook="BreakerboxCorrelatedOpenings", link_dashboard="breakerbox-correlated-failures"';
    const values = [3, 1];
    const gives = [
      ...agents.map((of, index) => ({
        labels: `{alertname="BreakerboxCorrelatedOpenings", ${of}, gen_ai_tool_name="several", ${links}, link_job="j", link_agent="${index === 0 ? 'held' : 'over'}", link_tool="All"}`,
        value: values[index] ?? 0,
      })),
      ...tools.map((of, index) => ({
        labels: `{alertname="BreakerboxCorrelatedOpenings", gen_ai_agent_name="several", ${of}, ${links}, link_job="All", link_agent="All", link_tool="${index === 0 ? 'held' : 'over'}"}`,
        value: values[index] ?? 0,
      })),
    ];
    await proved({ samples, expr, at: '10m', gives });
    await proved({ samples, expr: exprOf(FLEET, 'Alerts'), at: '10m', gives: total(2) });
  });

  it('are ordered by severity, then the newest by five minutes, then those that affect most', async () => {
    const order = (at: number, name: string, severity: string, agent: string, tool?: string) => {
      const of = `job="j", gen_ai_agent_name="${agent}"${tool === undefined ? '' : `, gen_ai_tool_name="${tool}"`}`;
      const fired = `alertname="Breakerbox${name}", severity="${severity}", ${of}`;
      return { [`ALERTS{${fired}, alertstate="firing"}`]: '1x10', [`ALERTS_FOR_STATE{${fired}}`]: `${at}x10` };
    };
    const open = (agent: string, tool: string, count: number) => ({
      [`${RECORDED.notClosedByState}{job="j", gen_ai_agent_name="${agent}", gen_ai_tool_name="${tool}", breakerbox_state="open"}`]: `${count}x10`,
    });
    const samples = {
      ...loaded,
      ...reporting,
      ...order(310, 'CircuitFlapping', 'warning', 'a', 'narrow'),
      ...order(310, 'CircuitFlapping', 'warning', 'a', 'wide'),
      ...order(100, 'CircuitFlapping', 'warning', 'a', 'old'),
      ...order(100, 'TelemetryAbsent', 'critical', 'b'),
      ...open('a', 'narrow', 2),
      ...open('a', 'wide', 40),
      ...open('a', 'old', 500),
      [`${RECORDED.paused}{job="j", gen_ai_agent_name="b", breakerbox_session_state="paused_budget"}`]: '7x10',
    };
    const rank = /floor\(1e-13 \* topk\(100, (?<rank>.*?)\)\) or on \(\) label_replace/s.exec(expr)?.groups?.rank ?? '';
    const row = (name: string, agent: string, value: number, tool = '') => ({
      labels: `{alertname="Breakerbox${name}", job="j", gen_ai_agent_name="${agent}"${tool === '' ? '' : `, gen_ai_tool_name="${tool}"`}}`,
      value,
    });
    const gives = [
      row('TelemetryAbsent', 'b', 3e13 + 7),
      row('CircuitFlapping', 'a', 2e13 + 3e5 + 40, 'wide'),
      row('CircuitFlapping', 'a', 2e13 + 3e5 + 2, 'narrow'),
      row('CircuitFlapping', 'a', 2e13 + 500, 'old'),
    ];
    await proved({ samples, expr: rank, at: '10m', gives });
  });

  it('are the same 100 in all columns, however many fire', async () => {
    const names = Array.from({ length: 120 }, (_, index) => {
      const severity = index < 20 ? 'critical' : 'warning';
      return `alertname="BreakerboxToolSlow", severity="${severity}", job="j", gen_ai_agent_name="a${index}", gen_ai_tool_name="t"`;
    });
    const samples = {
      ...loaded,
      ...reporting,
      ...Object.fromEntries(names.map((labels) => [`ALERTS{${labels}, alertstate="firing"}`, '1x10'])),
      ...Object.fromEntries(names.map((labels) => [`ALERTS_FOR_STATE{${labels}}`, '60x10'])),
    };
    // Without the labels of links, which only the first has, and which the table then takes from it.
    const row = 'alertname, job, gen_ai_agent_name, gen_ai_tool_name';
    const columns = ['A', 'B'].map((refId) => `max by (${row}) (${exprOf(FLEET, 'Firing alerts', refId)})`);
    for (const one of [...columns, columns.join(' and ')]) {
      await proved({ samples, expr: `count(${one})`, at: '10m', gives: total(100) });
    }
    const critical = `count(${columns[0]} == 3 and ${columns[1]})`;
    await proved({ samples, expr: critical, at: '10m', gives: total(20) });
    await proved({ samples, expr: exprOf(FLEET, 'Alerts'), at: '10m', gives: total(120) });
  });

  it('show none if the rules are loaded, and otherwise say that they are not', async () => {
    // There is a page README beside the runbooks.
    const links =
      'link_runbook="README", link_dashboard="breakerbox-fleet-overview", link_job="All", link_agent="All", link_tool="All"';
    const none = (alertname: string) => [{ labels: `{alertname="${alertname}", ${links}}`, value: 0 }];
    await proved({ samples: { ...loaded, ...reporting }, expr, at: '10m', gives: none('none') });
    await proved({ samples: reporting, expr, at: '10m', gives: none(NO_RULES) });
    expect(exprOf(FLEET, 'Firing alerts', 'B')).toContain(NO_RULES);
  });

  it('show how long the trouble lasts: of a tool since it is unavailable, which is earlier', async () => {
    const labels = 'alertname="BreakerboxCircuitOpen", severity="warning", job="j", gen_ai_agent_name="a"';
    const samples = {
      ...reporting,
      [`ALERTS{${labels}, alertstate="firing"}`]: '1x10',
      [`ALERTS_FOR_STATE{${labels}}`]: '120x10',
      [`ALERTS_FOR_STATE{${labels}, gen_ai_tool_name="pending"}`]: '60x10',
      [`ALERTS{${labels}, alertstate="firing", gen_ai_tool_name="t"}`]: '1x10',
      [`ALERTS_FOR_STATE{${labels}, gen_ai_tool_name="t"}`]: '120x10',
      [`${RECORDED.unavailableSince}{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"}`]: '30x10',
    };
    const circuitOpen = (more: string) => `{alertname="BreakerboxCircuitOpen", job="j", gen_ai_agent_name="a"${more}}`;
    const gives = [
      { labels: circuitOpen(''), value: 480 },
      { labels: circuitOpen(', gen_ai_tool_name="t"'), value: 570 },
    ];
    await proved({ samples, expr: exprOf(FLEET, 'Firing alerts', 'B'), at: '10m', gives });
  });

  it('show at least a second of an alert that has just fired, because 0 is shown as a dash', async () => {
    const labels = 'alertname="BreakerboxFleetDegraded", severity="warning", job="j", gen_ai_agent_name="a"';
    const samples = {
      ...reporting,
      [`ALERTS{${labels}, alertstate="firing"}`]: '1x10',
      [`ALERTS_FOR_STATE{${labels}}`]: '600x10',
    };
    await proved({
      samples,
      expr: `max(${exprOf(FLEET, 'Firing alerts', 'B')})`,
      at: '10m',
      gives: [{ labels: '{}', value: 1 }],
    });
  });
});
