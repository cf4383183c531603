import { describe, it } from 'vitest';
import { RULES_LOADED } from './alert-state.ts';
import { UID } from './links.ts';
import { exprOf, proved } from './test-support.ts';

const PAGE = UID.correlatedFailures;

const tool = (agent: string, name: string, instance = 'i', job = 'j'): string =>
  `job="${job}", instance="${instance}", gen_ai_agent_name="${agent}", gen_ai_tool_name="${name}"`;
const gauge = (agent: string, name: string, error = 'network', instance?: string, job?: string): string =>
  `breakerbox_circuit_opened_time_seconds{${tool(agent, name, instance, job)}, error_type="${error}"}`;
const REPORTING = { 'breakerbox_sessions{job="j", instance="i", gen_ai_agent_name="a"}': '1x120' };
const count = (value: number) => [{ labels: '{}', value }];

describe('tools that opened in the time range shown', () => {
  const expr = exprOf(PAGE, 'Tools that opened in range');

  // The time range shown is the last ten minutes.
  it.each<[string, Readonly<Record<string, string>>, string, number]>([
    ['the first opening, which no counter shows', { [gauge('a', 't')]: '_x84 5000x5' }, '90m', 1],
    ['one that opened again', { [gauge('a', 't')]: '900x84 5000x5' }, '90m', 1],
    ['one that a restarted process opened', { [gauge('a', 't')]: '900x50 _x34 5000x5' }, '90m', 1],
    ['one of a process that has ended since', { [gauge('a', 't')]: '900x82 5000x2' }, '90m', 1],
    [
      'one, although a new instance opened it',
      { [gauge('a', 't')]: '900x90', [gauge('a', 't', 'network', '2')]: '_x84 5000x5' },
      '90m',
      1,
    ],
    [
      'two that failed in different ways',
      { [gauge('a', 't')]: '_x84 5000x5', [gauge('a', 't', 'timeout')]: '_x86 5100x5' },
      '90m',
      2,
    ],
    ['not one that opened before', { [gauge('a', 't')]: '900x90' }, '90m', 0],
    [
      'not one that another instance opened later',
      { [gauge('a', 't')]: '5000x90', [gauge('a', 't', 'network', '2')]: '_x84 900x5' },
      '90m',
      0,
    ],
    ['none, if a scrape is missing', { [gauge('a', 't')]: '900x70 _x12 900x8' }, '90m', 0],
    // The limit that the comment and the README document.
    ['one that was absent for more than an hour', { [gauge('a', 't')]: '900x10 _x74 900x5' }, '90m', 1],
  ])('count %s', async (_, samples, at, value) => {
    await proved({ samples: { ...REPORTING, ...samples }, expr, at, gives: count(value) });
  });

  it('are counted by error and by agent, once per window', async () => {
    const samples = {
      ...REPORTING,
      [gauge('a', 't')]: '_x84 5000x5',
      [gauge('a', 'u')]: '_x84 5001x2 5100x3',
      [gauge('b', 't', 'timeout')]: '_x84 5002x5',
    };
    const byError = [
      { labels: '{error_type="network"}', value: 2 },
      { labels: '{error_type="timeout"}', value: 1 },
    ];
    const byAgent = [
      { labels: '{gen_ai_agent_name="a"}', value: 2 },
      { labels: '{gen_ai_agent_name="b"}', value: 1 },
    ];
    await proved({ samples, expr: exprOf(PAGE, 'Tools that opened, by error'), at: '90m', gives: byError });
    await proved({ samples, expr: exprOf(PAGE, 'Tools that opened, by agent'), at: '90m', gives: byAgent });
  });
});

describe('tools that opened together', () => {
  it('show at once, although the steps are two and a half minutes apart', async () => {
    // The last step is at 10m, and the openings are one sample later.
    const samples = { ...REPORTING, [gauge('a', 't')]: '_x11 640x3', [gauge('a', 'u')]: '_x11 641x3' };
    await proved({ samples, expr: exprOf(PAGE, 'Most tools of one agent in range'), at: '11m', gives: count(2) });
  });

  const at = '10m';
  const opened = (times: Readonly<Record<string, number>>) => ({
    ...REPORTING,
    ...Object.fromEntries(Object.entries(times).map(([series, time]) => [series, `_ ${time}x9`])),
  });

  it.each<[string, Readonly<Record<string, number>>, number, number]>([
    ['three tools of one agent', { [gauge('a', 't')]: 1000, [gauge('a', 'u')]: 1060, [gauge('a', 'v')]: 1120 }, 3, 1],
    [
      'two, if the first is one second too early',
      { [gauge('a', 't')]: 999, [gauge('a', 'u')]: 1060, [gauge('a', 'v')]: 1120 },
      2,
      1,
    ],
    ['one tool of three agents', { [gauge('a', 't')]: 1000, [gauge('b', 't')]: 1001, [gauge('c', 't')]: 1002 }, 1, 3],
    [
      'nothing if errors differ',
      { [gauge('a', 't')]: 1000, [gauge('a', 'u', 'timeout')]: 1001, [gauge('b', 't', 'server')]: 1002 },
      1,
      1,
    ],
    [
      'one tool once, for any number of instances',
      { [gauge('a', 't', 'network', '1')]: 1000, [gauge('a', 't', 'network', '2')]: 1010 },
      1,
      1,
    ],
    [
      'not three tools of an agent if each job has an agent of that name, and one agent as in the alert',
      {
        [gauge('a', 't', 'network', 'i', 'prod')]: 1000,
        [gauge('a', 'u', 'network', 'i', 'staging')]: 1001,
        [gauge('a', 't', 'network', 'i', 'dev')]: 1002,
      },
      1,
      1,
    ],
    [
      'nothing for the series that collects all other tools',
      { [gauge('a', '_OTHER')]: 1000, [gauge('b', '_OTHER')]: 1001, [gauge('c', '_OTHER')]: 1002 },
      0,
      0,
    ],
    ['nothing if nothing opened', {}, 0, 0],
  ])('is %s', async (_, times, tools, agents) => {
    await proved({
      samples: opened(times),
      expr: exprOf(PAGE, 'Most tools of one agent in range'),
      at,
      gives: count(tools),
    });
    await proved({
      samples: opened(times),
      expr: exprOf(PAGE, 'Most agents with one tool in range'),
      at,
      gives: count(agents),
    });
  });

  it('still show after another tool opened alone, and not before the time range shown', async () => {
    const samples = {
      ...REPORTING,
      [gauge('a', 't')]: '_x20 1200x99',
      [gauge('a', 'u')]: '_x20 1210x99',
      [gauge('a', 'v')]: '_x21 1270x99',
      [gauge('a', 'w')]: '_x50 3000x69',
    };
    const expr = exprOf(PAGE, 'Most tools of one agent in range');
    await proved({ samples, expr, at: '60m', range: '60m', gives: count(3) });
    await proved({ samples, expr, at: '60m', range: '20m', gives: count(1) });
  });

  it('are counted at each tool that is one of them, and at no other', async () => {
    const samples = opened({
      [gauge('a', 't')]: 1000,
      [gauge('a', 'u')]: 1060,
      [gauge('a', 'early')]: 500,
      [gauge('b', 't')]: 1090,
    });
    const row = (agent: string, name: string, value: number) => ({
      labels: `{job="j", gen_ai_agent_name="${agent}", gen_ai_tool_name="${name}", error_type="network"}`,
      value,
    });
    const tools = [row('a', 't', 2), row('a', 'u', 2), row('b', 't', 1)];
    const agents = [row('a', 't', 2), row('b', 't', 2), row('a', 'u', 1), row('a', 'early', 1)];
    await proved({ samples, expr: exprOf(PAGE, 'Last openings in range', 'B'), at, gives: tools });
    await proved({ samples, expr: exprOf(PAGE, 'Last openings in range', 'C'), at, gives: agents });
  });

  it('are one number for each agent (tool) and error', async () => {
    const samples = opened({ [gauge('a', 't')]: 1000, [gauge('a', 'u')]: 1001, [gauge('b', 't', 'timeout')]: 1002 });
    const byAgent = [
      { labels: '{gen_ai_agent_name="a", error_type="network"}', value: 2 },
      { labels: '{gen_ai_agent_name="b", error_type="timeout"}', value: 1 },
    ];
    const byTool = [
      { labels: '{gen_ai_tool_name="t", error_type="network"}', value: 1 },
      { labels: '{gen_ai_tool_name="u", error_type="network"}', value: 1 },
      { labels: '{gen_ai_tool_name="t", error_type="timeout"}', value: 1 },
    ];
    const [first, second] = [
      'Tools that opened together in range, by agent and error',
      'Agents with one tool in range, by tool and error',
    ];
    await proved({ samples, expr: exprOf(PAGE, first ?? ''), at, gives: byAgent });
    await proved({ samples, expr: exprOf(PAGE, second ?? ''), at, gives: byTool });
    const nothing = [{ labels: '{gen_ai_agent_name="nothing opened", error_type="none"}', value: 0 }];
    await proved({ samples: REPORTING, expr: exprOf(PAGE, first ?? ''), at, gives: nothing });
  });
});

it('the table of openings says that nothing opened in a column without links', async () => {
  const samples = { ...REPORTING, [`breakerbox_circuits{${tool('a', 't')}, breakerbox_state="closed"}`]: '1x10' };
  const gives = [{ labels: '{error_type="nothing opened"}', value: 0 }];
  await proved({ samples, expr: exprOf(PAGE, 'Last openings in range'), at: '10m', gives });
});

describe('circuits in the order of their opening', () => {
  const expr = exprOf(PAGE, 'Circuits in the order of their opening');
  const circuits = (agent: string, name: string, state: string) =>
    `breakerbox_circuits{${tool(agent, name)}, breakerbox_state="${state}"}`;

  it('show their state, and are sorted by the label with the time of opening', async () => {
    const samples = {
      ...REPORTING,
      [circuits('a', 'z', 'open')]: '1x10',
      [circuits('b', 'y', 'closed')]: '1x10',
      [circuits('b', 'healthy', 'closed')]: '1x10',
      [gauge('a', 'z')]: '_ 1000.5x9',
      [gauge('b', 'y', 'timeout')]: '_ 1001x9',
      [gauge('b', 'y')]: '_ 1002x9',
    };
    const gives = [
      { labels: '{at="1000.5", job="j", gen_ai_agent_name="a", gen_ai_tool_name="z"}', value: 3 },
      { labels: '{at="1002", job="j", gen_ai_agent_name="b", gen_ai_tool_name="y"}', value: 0 },
    ];
    await proved({ samples, expr, at: '10m', gives });
  });

  it('say that nothing opened', async () => {
    const gives = [{ labels: '{gen_ai_tool_name="nothing opened"}', value: 0 }];
    await proved({ samples: { ...REPORTING, [circuits('a', 't', 'closed')]: '1x10' }, expr, at: '10m', gives });
  });
});

describe('alerts of a shared cause', () => {
  const loaded = { ...REPORTING, [`${RULES_LOADED}{job="j"}`]: '0x10' };
  const alert = (name: string, state: string, more: string) =>
    `ALERTS{alertname="${name}", severity="critical", alertstate="${state}"${more}}`;
  const samples = {
    ...loaded,
    [alert('BreakerboxSystemicFailure', 'pending', ', job="j", gen_ai_agent_name="a"')]: '1x10',
    [alert('BreakerboxCorrelatedOpenings', 'firing', ', gen_ai_tool_name="t", error_type="network"')]: '1x10',
    [alert('BreakerboxCorrelatedOpenings', 'firing', ', gen_ai_tool_name="u", error_type="network"')]: '1x10',
    [alert('BreakerboxCircuitOpen', 'firing', ', job="j", gen_ai_agent_name="a"')]: '1x10',
  };
  const at = '10m';

  it('are shown as pending or firing, and are counted when they fire', async () => {
    const gives = [
      { labels: '{alertname="BreakerboxSystemicFailure", job="j", gen_ai_agent_name="a"}', value: 1 },
      { labels: '{alertname="BreakerboxCorrelatedOpenings", gen_ai_tool_name="t"}', value: 2 },
      { labels: '{alertname="BreakerboxCorrelatedOpenings", gen_ai_tool_name="u"}', value: 2 },
    ];
    await proved({ samples, expr: exprOf(PAGE, 'Alerts over time'), at, gives });
    const onThem = { ...samples, [gauge('a', 't')]: '500x10', [gauge('a', 'u')]: '500x10' };
    await proved({ samples: onThem, expr: exprOf(PAGE, 'Alerts of a shared cause'), at, gives: count(2) });
    // Those of tools that opened on no selected agent do not count.
    await proved({ samples, expr: exprOf(PAGE, 'Alerts of a shared cause'), at, gives: count(0) });
    await proved({ samples: loaded, expr: exprOf(PAGE, 'Alerts of a shared cause'), at, gives: count(0) });
  });

  it('say none only if there were none in the time range shown', async () => {
    const expr = exprOf(PAGE, 'Alerts over time');
    const over = {
      ...loaded,
      [alert('BreakerboxSystemicFailure', 'firing', ', job="j", gen_ai_agent_name="a"')]: '1x3 stale',
    };
    await proved({ samples: over, expr, at, gives: [] });
    await proved({ samples: loaded, expr, at, gives: [{ labels: '{alertname="none"}', value: 0 }] });
    const unruled = [{ labels: '{alertname="no rules here"}', value: 0 }];
    await proved({ samples: REPORTING, expr, at, gives: unruled });
  });

  it('are one mark for the fleet, which shows active systemic events if there are no alerts', async () => {
    const expr = exprOf(PAGE, 'Systemic or correlated failure', 'annotation');
    const marked = [{ labels: '{alertname="BreakerboxCorrelatedOpenings"}', value: 2 }];
    await proved({ samples, expr, at, gives: marked });
    const active = {
      ...REPORTING,
      'breakerbox_systemic_active{job="j", instance="i", gen_ai_agent_name="a"}': '3x10',
    };
    const events = [{ labels: '{alertname="Systemic event"}', value: 3 }];
    await proved({ samples: active, expr, at, gives: events });
  });

  it('A6: of operators are one mark each, also for the first action of its kind', async () => {
    const expr = exprOf(PAGE, 'Actions of operators', 'annotation');
    const name = (action: string) =>
      `breakerbox_operator_actions_total{job="j", instance="i", gen_ai_agent_name="a", breakerbox_action="${action}", breakerbox_result="done"}`;
    const labels = (action: string) =>
      `{breakerbox_action="${action}", breakerbox_result="done", gen_ai_agent_name="a"}`;
    const acted = { ...REPORTING, [name('resume')]: '_x40 1x60', [name('disable')]: '2x39 5x60' };
    const gives = [
      { labels: labels('resume'), value: 1 },
      { labels: labels('disable'), value: 3 },
    ];
    await proved({ samples: acted, expr, at: '40m30s', gives });
    await proved({ samples: acted, expr, at: '55m', gives: [] });
  });
});

describe('systemic events', () => {
  const event = (suspect: string, error = 'network') =>
    `breakerbox_systemic_events_total{job="j", instance="i", gen_ai_agent_name="a", error_type="${error}", breakerbox_systemic_suspect="${suspect}"}`;

  it('show what the agent suspects, also in the first value of a series', async () => {
    const samples = {
      ...REPORTING,
      [event('unknown', '_MIXED')]: '0x90',
      [event('dependency proxy')]: '_x84 2x5',
      [event('network')]: '1x84 2x5',
    };
    const row = (suspect: string, value: number) => ({
      labels: `{job="j", gen_ai_agent_name="a", error_type="network", breakerbox_systemic_suspect="${suspect}"}`,
      value,
    });
    const gives = [row('dependency proxy', 2), row('network', 1)];
    await proved({ samples, expr: exprOf(PAGE, 'Suspected causes in range'), at: '90m', gives });
  });
});
