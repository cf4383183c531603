import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { agents, instances, SimulatedProcess } from './process.ts';

const labels = { job: 'fleet', gen_ai_agent_name: 'a', severity: 'critical' };

describe.concurrent.each(INTERVALS)('BreakerboxBudgetExhausted, every %i s', (interval) => {
  const of = among(interval, 'BudgetExhausted');

  it('fires while sessions are paused, across a missed scrape, and is kept for 15 minutes after', () => {
    const alert = 'BudgetExhausted';
    const says = {
      at: 360,
      alert: 'BudgetExhausted',
      labels,
      summary: 'a: sessions are out of failure budget',
      description:
        'Agent a (job fleet): 3 sessions are paused, because their failure budgets are used up (at Jan 1 00:06 UTC). A paused session calls no tool until you resume it. Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.',
      dashboard: '/d/breakerbox-failure-budget?var-job=fleet&var-agent=a',
      began: 'Jan 1 00:00 UTC',
    };
    const firing = [{ alert, after: 60, by: 60 + 2 * interval, until: 1295, gone: 1300 + 2 * interval }];
    const processes = instances(['1', '2']);
    const missed = (now: number) => now === 300;
    const scenario = { interval, of, lasts: 1500, processes, sessions: 2, missed, firing, says: [says] };
    return run(scenario, (now, first, second) => {
      if (now === 60) first.pause('paused_budget', 2);
      if (now === 60) second.pause('paused_budget');
      if (now === 400) first.pause('paused_budget', -2);
      if (now === 400) second.pause('paused_budget', -1);
    });
  });

  it('sees a session that ends between two scrapes, and does not fire again after a restart', () => {
    const alert = 'BudgetExhausted';
    const says = {
      at: 480,
      alert,
      labels,
      summary: 'a: sessions are out of failure budget',
      description:
        'Agent a (job fleet): Sessions ran out within the last 18 minutes, and were resumed or ended since. None is paused now (at Jan 1 00:08 UTC). A paused session calls no tool until you resume it. Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.',
      dashboard: '/d/breakerbox-failure-budget?var-job=fleet&var-agent=a',
      began: 'Jan 1 00:06 UTC',
    };
    const firing = [{ alert, after: 361, by: 361 + 2 * interval, until: 1380, gone: 1470 + 2 * interval }];
    return run({ interval, of, lasts: 1600, firing, says: [says] }, (now, one) => {
      if (now === 361) {
        one.pause('paused_budget');
        one.end(1, {}, 'paused_budget');
      }
      if (now === 900) one.start();
    });
  });

  it('is silent about a budget with one failure left, and about old exhaustions', () => {
    const missed = (now: number) => now > 300 && now < 500;
    return run({ interval, of, lasts: 900, sessions: 3, missed }, (now, one) => {
      if (now > 0 && now <= 4) one.charge();
    });
  });
});

describe.concurrent.each(INTERVALS)('BreakerboxSystemicFailure, every %i s', (interval) => {
  const of = among(interval, 'SystemicFailure');
  const alert = 'SystemicFailure';

  it('fires at once with the names of the tools, keeps firing while they recover, and resolves after ten minutes', () => {
    const says = {
      at: 240,
      alert: 'SystemicFailure',
      labels,
      summary: 'a: fetch_page, web_search fail together (network)',
      description:
        'Agent a (job fleet) has recognised failures of several tools as one event. Tools that failed: fetch_page (network), web_search (network). Suspected: dependency proxy. 2 sessions are paused for every tool (at Jan 1 00:04 UTC). Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.',
      dashboard: '/d/breakerbox-correlated-failures?var-job=fleet&var-agent=a',
      began: 'Jan 1 00:00 UTC',
    };
    const open = { alert: 'CircuitOpen', count: 2, after: 360, by: 435 + 2 * interval, until: 479 };
    const firing = [
      { alert, after: 60, by: 60 + 2 * interval, until: 895, gone: 900 + 2 * interval },
      ...(of ? [] : [{ ...open, gone: 680 + 2 * interval }]),
    ];
    const processes = [new SimulatedProcess({ tools: ['web_search', 'fetch_page', 'calculator'] })];
    const missed = (now: number) => now === 180;
    const scenario = { interval, of, lasts: 1500, processes, sessions: 2, missed, firing, says: [says] };
    return run(scenario, (now, one) => {
      if (now === 60) {
        one.open(now, 'web_search');
        one.open(now, 'fetch_page');
        one.call('fetch_page', 'network'); // One failure more: Prometheus sorts equal counts by chance.
        one.pause('paused_systemic', 2, 'dependency proxy');
      }
      if (now === 300) one.pause('paused_systemic', -2);
      if (now === 480) for (const tool of ['web_search', 'fetch_page']) one.probe(tool, 'success');
    });
  });

  it('fires in scope process, without paused sessions, until the event is over', () => {
    const says = {
      at: 240,
      alert,
      labels,
      summary: 'a: t, u fail together (network)',
      description:
        'Agent a (job fleet) has recognised failures of several tools as one event. Tools that failed: t (network), u (network). Suspected: network. 1 event is active, no session is paused, and calls of the affected tools are skipped until a probe succeeds (at Jan 1 00:04 UTC). Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.',
      dashboard: '/d/breakerbox-correlated-failures?var-job=fleet&var-agent=a',
      began: 'Jan 1 00:00 UTC',
    };
    const firing = [{ alert, after: 60, by: 60 + 2 * interval, until: 1555, gone: 1560 + 2 * interval }];
    const processes = [new SimulatedProcess({ tools: ['t', 'u', 'v'] })];
    const missed = (now: number) => now === 600;
    const scenario = { interval, of: [alert], lasts: 2100, processes, sessions: 3, missed, firing, says: [says] };
    return run(scenario, (now, one) => {
      if (now === 60) {
        for (const tool of ['t', 'u']) one.open(now, tool);
        one.call('t', 'network'); // One failure more: Prometheus sorts equal counts by chance.
        one.event();
      }
      if (now > 60 && now % 10 === 0) one.call('v', 'success');
      if (now === 960) {
        one.probe('t', 'success');
        one.event(-1);
      }
    });
  });

  it('B1: names the tools, the category and the cause for as long as sessions are paused, although nothing fails any more', () => {
    const says = {
      at: 2460,
      alert,
      labels,
      summary: 'a: fetch_page, web_search fail together (network)',
      description:
        'Agent a (job fleet) has recognised failures of several tools as one event. Tools that failed: maps (network), fetch_page (network), web_search (network). Suspected: dependency proxy. 1 session is paused for every tool (at Jan 1 00:41 UTC). Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.',
      dashboard: '/d/breakerbox-correlated-failures?var-job=fleet&var-agent=a',
      began: 'Jan 1 00:20 UTC',
    };
    const firing = [{ alert, after: 1201, by: 1201 + 2 * interval }];
    const processes = [new SimulatedProcess({ tools: ['web_search', 'fetch_page', 'notes', 'maps'] })];
    // No scrape at the moment from which on failures count.
    const missed = (now: number) => now > 240 && now < 360;
    const scenario = { interval, of: [alert], lasts: 2500, processes, sessions: 2, missed, firing, says: [says] };
    return run(scenario, (now, one) => {
      if (now === 60) one.call('notes', 'server', 9);
      // It works: one of twenty pages has a dead host.
      if (now >= 60 && now <= 1201) one.call('maps', now % 20 === 0 ? 'network' : 'success');
      if (now !== 1201) return;
      one.call('web_search', 'network');
      one.call('fetch_page', 'network', 2);
      one.together('web_search', 'fetch_page');
      one.pause('paused_systemic', 1, 'dependency proxy');
    });
  });

  it('sees an event whose session ends at once; two tools that open apart are not an event', () => {
    const firing = [{ alert, after: 361, by: 361 + 2 * interval, until: 1080, gone: 1170 + 2 * interval }];
    const processes = agents(['event', 'apart'], { tools: ['t', 'u'] });
    const says = {
      at: 480,
      alert,
      labels: { ...labels, gen_ai_agent_name: 'event' },
      summary: 'event: u, t fail together (network)',
      description:
        'Agent event (job fleet) has recognised failures of several tools as one event. Tools that failed: u (network), t (network). Suspected: network. No event is active any more, because its session ended or its tools work again (at Jan 1 00:08 UTC). Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.',
      dashboard: '/d/breakerbox-correlated-failures?var-job=fleet&var-agent=event',
      began: 'Jan 1 00:06 UTC',
    };
    return run({ interval, of, lasts: 1500, processes, firing, says: [says] }, (now, event, apart) => {
      if (now === 361) {
        event.call('t', 'network');
        event.call('u', 'network', 2);
        event.pause('paused_systemic');
        event.end(1, {}, 'paused_systemic');
      }
      if (now === 100) apart.open(now, 't', 'network');
      if (now === 100) apart.open(now, 'u', 'timeout');
      if (now === 160) for (const tool of ['t', 'u']) apart.probe(tool, 'success');
    });
  });
});

it.concurrent('BreakerboxBudgetExhausted names the tools that failed most, counts all others, and its command fits into a message', () => {
  // As long as the names of MCP servers' tools are in clients.
  const tools = Array.from({ length: 11 }, (_, index) => `mcp__payments_production__create_invoice_${index}`);
  const named = (count: number): string =>
    tools
      .slice(-count)
      .reverse()
      .map((tool) => `${tool} (server)`)
      .join(', ');
  const description = `Agent a (job fleet): 1 session is paused, because its failure budget is used up (at Jan 1 00:06 UTC). A paused session calls no tool until you resume it. Tools that failed since Dec 31 23:45 UTC: ${named(5)} and 6 more. Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.`;
  const templates = readFileSync(
    new URL('../../stack/alertmanager/templates/breakerbox.tmpl', import.meta.url),
    'utf8',
  );
  for (const [, most] of templates.matchAll(/\{(\d+)\}\)\.\+\$/g))
    expect(description.length).toBeLessThan(Number(most));
  const says = {
    at: 360,
    alert: 'BudgetExhausted',
    labels,
    summary: `a: sessions are out of failure budget: ${named(3)} and 8 more`,
    description,
    dashboard: '/d/breakerbox-failure-budget?var-job=fleet&var-agent=a',
    began: 'Jan 1 00:00 UTC',
  };
  const firing = [{ alert: 'BudgetExhausted', after: 60, by: 180 }];
  const processes = [new SimulatedProcess({ tools })];
  return run({ interval: 15, of: ['BudgetExhausted'], lasts: 400, processes, firing, says: [says] }, (now, one) => {
    if (now !== 60) return;
    for (const [index, tool] of tools.entries()) one.call(tool, 'server', index + 1);
    one.pause('paused_budget');
  });
});

it.concurrent('B1: names what failed since a trouble of more than six hours began, and no category of a mixed event', () => {
  const failed = 'x (server), y (network)';
  const common = { at: 9 * 3600, labels, began: '', first: 'Jan 1 01:00 UTC' };
  const dashboard = (name: string) => `/d/breakerbox-${name}?var-job=fleet&var-agent=a`;
  const says = [
    {
      ...common,
      alert: 'BudgetExhausted',
      summary: `a: sessions are out of failure budget: ${failed}`,
      description: `Agent a (job fleet): 1 session is paused, because its failure budget is used up (at Jan 1 09:00 UTC). A paused session calls no tool until you resume it. Tools that failed since Jan 1 00:45 UTC: ${failed}. Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.`,
      dashboard: dashboard('failure-budget'),
    },
    {
      ...common,
      alert: 'SystemicFailure',
      summary: 'a: x, y fail together',
      description: `Agent a (job fleet) has recognised failures of several tools as one event. Tools that failed: ${failed}. 1 event is active, no session is paused, and calls of the affected tools are skipped until a probe succeeds (at Jan 1 09:00 UTC). Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.`,
      dashboard: dashboard('correlated-failures'),
    },
  ];
  const firing = ['BudgetExhausted', 'SystemicFailure'].map((alert) => ({ alert, after: 3600, by: 3720 }));
  const processes = [new SimulatedProcess({ tools: ['x', 'y', 'old'] })];
  const of = ['BudgetExhausted', 'SystemicFailure'];
  return run({ interval: 60, of, lasts: 9 * 3600, processes, sessions: 2, firing, says, orders: 1 }, (now, one) => {
    if (now === 60) one.call('old', 'permission', 500);
    if (now === 3600) one.pause('paused_budget');
    if (now === 3600) one.event(1, 'unknown', '_MIXED');
    if (now !== 2 * 3600) return;
    one.call('x', 'server', 2);
    one.call('y', 'network');
    one.event(1, 'unknown', '_MIXED');
    one.event(-1);
  });
});

it.concurrent('sees a new process that is first scraped after its session ran out, if the agent has others', () => {
  const processes = instances(['old', 'fresh']);
  processes[1]?.stop();
  const of = ['BudgetExhausted', 'SystemicFailure'];
  const firing = [{ alert: 'BudgetExhausted', after: 601, by: 720, until: 1620, gone: 1860 }];
  return run({ interval: 60, of, lasts: 2100, processes, firing }, (now, _, fresh) => {
    if (now !== 601) return;
    fresh.start();
    fresh.begin();
    fresh.pause('paused_budget');
    fresh.end(1, {}, 'paused_budget');
  });
});

it.concurrent.each(wanted(15, 60))(
  'BreakerboxBudgetExhausted is one alert when an agent runs out every 5 minutes, every %i s',
  (interval) => {
    const firing = [{ alert: 'BudgetExhausted', after: 206, by: 206 + 2 * interval }];
    return run({ interval, of: ['BudgetExhausted'], lasts: 3600, sessions: 0, firing }, (now, one) => {
      if (now % 300 === 0) one.begin();
      if (now % 300 !== 206) return;
      one.pause('paused_budget');
      one.end(1, {}, 'paused_budget');
    });
  },
);

it.concurrent('C11: names what had failed, also when a process has restored the paused session and the one that counted is gone', () => {
  const processes = instances(['old', 'fresh'], { tools: ['x', 'y'] });
  processes[1]?.stop();
  const says = {
    at: 3600,
    alert: 'BudgetExhausted',
    labels,
    summary: 'a: sessions are out of failure budget: x (server), y (network)',
    description:
      'Agent a (job fleet): 1 session is paused, because its failure budget is used up (at Jan 1 01:00 UTC). A paused session calls no tool until you resume it. Tools that failed since Jan 1 00:04 UTC: x (server), y (network). Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.',
    dashboard: '/d/breakerbox-failure-budget?var-job=fleet&var-agent=a',
    began: 'Jan 1 00:19 UTC',
  };
  const firing = [{ alert: 'BudgetExhausted', after: 1200, by: 1320 }];
  const scenario = { interval: 60, of: ['BudgetExhausted'], lasts: 3660, processes, firing, says: [says], orders: 1 };
  return run(scenario, (now, old, fresh) => {
    if (now === 1180) old.call('x', 'server', 3);
    if (now === 1180) old.call('y', 'network', 2);
    if (now === 1180) old.pause('paused_budget');
    if (now === 1500) old.stop();
    if (now !== 1500) return;
    fresh.start();
    fresh.begin();
    fresh.pause('paused_budget');
  });
});
