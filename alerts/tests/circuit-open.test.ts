import { describe, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { agents, instances, SimulatedProcess } from './process.ts';

describe.concurrent.each(INTERVALS)('BreakerboxCircuitOpen, every %i s', (interval) => {
  const of = among(interval, 'CircuitOpen');

  it('fires after 5 minutes and half of the gap, and resolves half of the gap and two minutes after closing', () => {
    const processes = [new SimulatedProcess({ tools: ['t', 'other'] })];
    const firing = [{ alert: 'CircuitOpen', after: 480, by: 495 + 2 * interval, until: 830, gone: 915 + 2 * interval }];
    return run({ interval, of, lasts: 1200, processes, firing }, (now, one) => {
      if (now === 120) one.open(now, 't');
      if (now > 120 && now < 720 && now % 60 === 0) one.probe('t', 'network');
      if (now === 720) one.probe('t', 'success');
      if (now % 10 === 0) one.call('other', 'success');
    });
  });

  it('continues across missed scrapes, and half a minute between two sessions', () => {
    const firing = [{ alert: 'CircuitOpen', after: 300, by: 376 + 3 * interval }];
    const missed = (now: number) => now === 120 || now === 420;
    return run({ interval, of, lasts: 600, missed, firing }, (now, one) => {
      if (now === 1) one.open(now, 't');
      if (now === 300) one.end(1, { t: 'open' });
      if (now === 301) one.begin();
      if (now === 330) one.open(now, 't');
    });
  });

  it('C14: fires when nine of ten calls are skipped for their keys, though the circuit of the tool is closed', () => {
    const firing = [{ alert: 'CircuitOpen', after: 420, by: 540 + 2 * interval, until: 900, gone: 1420 }];
    const processes = agents(['some', 'most']);
    // Not the category of an opening that was over before.
    const keys = { agent: 'most', began: 'Jan 1 00:01 UTC', category: 'network' };
    const says = [open(interval === 1 ? 600 : 720, 'circuits of its keys, such as hosts', 't', keys)];
    return run({ interval, of, lasts: 1500, processes, firing, says }, (now, some, most) => {
      if (now === 5) most.opened(now, 't', 'timeout');
      if (now === 60) most.failKey('t', 'network', 3);
      if (now < 60 || now >= 900 || now % 10 !== 0) return;
      most.skip('t', 1, 'key_open');
      some.skip('t', 4, 'key_open');
      some.call('t', 'success');
    });
  });

  it('is silent about four and a half minutes, and when the process restarts or ends first', () => {
    const processes = agents(['short', 'restarted', 'gone'], { tools: ['t', 'u', 'v'] });
    return run({ interval, of, lasts: 900, processes }, (now, short, restarted, gone) => {
      if (now === 60) restarted.open(now, 't');
      if (now === 60) gone.open(now, 'u');
      if (now === 120) short.open(now, 'v');
      if (now === 240) restarted.start();
      if (now === 260) gone.stop();
      if (now === 270) restarted.begin();
      if (now === 390) short.probe('v', 'success');
    });
  });
});

it.concurrent('BreakerboxCircuitOpen says since when the outage lasts, across a restart and sessions that follow each other', () => {
  const of = ['CircuitOpen'];
  const firing = [{ alert: 'CircuitOpen', after: 480, by: 600 }];
  const says = [open(1200, '1 circuit', 't', { category: 'network', began: 'Jan 1 00:02 UTC' })];
  return run({ interval: 15, of, lasts: 1260, firing, says }, (now, one) => {
    if (now === 120) one.open(now, 't');
    if (now === 600) one.start();
    if (now === 615) one.begin();
    if (now === 640) one.open(now, 't');
    if (now === 900) one.end(1, { t: 'open' });
    if (now === 910) one.begin();
    if (now === 940) one.open(now, 't');
  });
});

/** What the alert says of the circuits of agent `a`. */
const open = (
  at: number,
  circuits: string,
  tool: string,
  { category = '', began = '', wait = '', agent = 'a', grafana = '' } = {},
) => ({
  at,
  alert: 'CircuitOpen',
  labels: { job: 'fleet', gen_ai_agent_name: agent, gen_ai_tool_name: tool, severity: 'warning' },
  summary: `${agent}: ${tool} is out of use${category === '' ? '' : ` (${category})`}`,
  description: `${tool} of agent ${agent} (job fleet) has been out of use for more than 5 minutes. Affected within the last 2 minutes: ${circuits}. ${tool.startsWith('group:') ? 'Calls of all tools of the group are skipped.' : 'Its calls are skipped.'}${wait} Check the service behind it. A probe closes the circuit once it works. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
  began,
  dashboard: `${grafana}/d/breakerbox-tool-detail?${new URLSearchParams({ 'var-job': 'fleet', 'var-agent': agent, 'var-tool': tool })}`,
});

describe.concurrent.each(wanted(15, 60))('BreakerboxCircuitOpen in a fleet, every %i s', (interval) => {
  const of = ['CircuitOpen'];

  it('is silent when 500 sessions always have some circuit open, and fires when they have many', () => {
    const firing = [{ alert: 'CircuitOpen', after: 310, by: 390 + 2 * interval }];
    const processes = agents(['chance', 'dead']);
    return run({ interval, of, lasts: 900, processes, sessions: 500, firing }, (now, chance, dead) => {
      // Each of the 3 open circuits closes after a minute, and another one opens.
      if (now % 60 === 10) {
        if (now > 10) chance.probe('t', 'success', 3);
        chance.open(now, 't', 'network', 3);
      }
      if (now === 10) dead.open(now, 't', 'network', 60);
    });
  });

  it('is one alert when the tool works for a minute and a half between two outages', () => {
    const firing = [{ alert: 'CircuitOpen', after: 390, by: 960 }];
    return run({ interval, of, lasts: 3600, firing }, (now, one) => {
      const turn = now % 480;
      if (turn === 90) one.open(now, 't', 'server');
      else if (turn > 90 && turn % 60 === 0) one.probe('t', 'server');
      else if (turn === 0 && now > 0) one.probe('t', 'success');
    });
  });

  it('is silent when the process that had it open for a minute pushed, and was replaced', () => {
    const processes = instances(['old', 'new']);
    processes[1]?.stop();
    return run({ interval, of, lasts: 1500, pushed: true, processes }, (now, old, fresh) => {
      if (now === 605) old.open(now, 't');
      if (now !== 675) return;
      old.stop();
      fresh.start();
      fresh.begin();
    });
  });

  it('counts open and half open but not forced open, adds up instances, and keeps agents apart', () => {
    const processes = [...instances(['1', '2']), ...agents(['b'])];
    const firing = [{ alert: 'CircuitOpen', after: 305, by: 380 + 2 * interval }];
    const says = [open(600, '3 circuits', 't', { category: 'network', began: 'Jan 1 00:00 UTC' })];
    return run({ interval, of, lasts: 600, processes, sessions: 2, firing, says }, (now, first, second, forced) => {
      if (now !== 5) return;
      forced.move('t', 'closed', 'forced_open', 2);
      first.move('t', 'closed', 'half_open');
      first.open(now, 't');
      second.move('t', 'closed', 'forced_open');
      second.open(now, 't');
    });
  });

  it('is silent about a tool that is open for a quarter of the time', () =>
    run({ interval, of, lasts: 1800 }, (now, one) => {
      if (now % 240 === 60) one.open(now, 't');
      if (now % 240 === 120) one.probe('t', 'success');
    }));
});

it.concurrent.each([
  ['says which tool, with the newest error, since when, and where to look', 'fails'],
  ['is silent about a tool that an operator forced open', 'forced'],
] as const)('BreakerboxCircuitOpen %s', (_, how) => {
  const processes = [new SimulatedProcess({ agent: 'research agent', tools: ['web_search'] })];
  const isForced = how === 'forced';
  const firing = isForced ? [] : [{ alert: 'CircuitOpen', after: 375, by: 480 }];
  const grafana_url = 'http://grafana.example';
  const texts = { category: 'network', began: 'Jan 1 00:00 UTC', agent: 'research agent', grafana: grafana_url };
  const says = isForced ? [] : [open(600, '1 circuit', 'web_search', texts)];
  const scenario = { interval: 15, of: ['CircuitOpen'], lasts: 600, processes, firing, says };
  return run({ ...scenario, externalLabels: { grafana_url } }, (now, one) => {
    if (now === 15) one.open(now, 'web_search', 'timeout');
    if (now === 45) one.probe('web_search', 'success');
    if (now !== 75) return;
    if (isForced) one.move('web_search', 'closed', 'forced_open');
    else one.open(now, 'web_search', 'network');
  });
});

const WAIT = ' The service asked to wait until Jan 1 00:50 UTC (Retry-After), so no probe is made before that.';

describe.concurrent.each(wanted(15, 60))('O3: a service that asked to wait, every %i s', (interval) => {
  const of = ['CircuitOpen', 'CorrelatedOpenings'];
  const tools = ['t', 'u', 'v'];
  const processes = () => [new SimulatedProcess({ tools })];

  it('has no page while it waits, nor when it works again', () =>
    run({ interval, of, lasts: 1500, processes: processes() }, (now, one) => {
      if (now === 75) for (const tool of tools) one.open(now, tool, 'server');
      if (now === 75) for (const tool of tools) one.asksToWait(tool, 1100);
      if (now === 1100) for (const tool of tools) one.waited(tool);
      if (now === 1101) for (const tool of tools) one.probe(tool, 'success');
    }));

  it('has one once the wait is over and a probe has failed, and the text says that it asked again', () => {
    const firing = [{ alert: 'CircuitOpen', after: 1401, by: 1476 + 3 * interval }];
    const says = [open(1620, '1 circuit', 't', { category: 'server', began: 'Jan 1 00:01 UTC', wait: WAIT })];
    return run({ interval, of, lasts: 1700, processes: processes(), firing, says }, (now, one) => {
      if (now === 75) one.open(now, 't', 'server');
      if (now === 75) one.asksToWait('t', 1100);
      if (now === 1100) one.waited('t');
      if (now !== 1101) return;
      one.probe('t', 'server');
      one.asksToWait('t', 3000, { isAgain: true });
    });
  });

  it('has none for a wait after an outage that is over, with probes that failed', () => {
    const firing = [{ alert: 'CircuitOpen', after: 430, by: 475 + 3 * interval, until: 510, gone: 1000 }];
    return run({ interval, of, lasts: 2300, processes: processes(), firing }, (now, one) => {
      if (now === 75) one.open(now, 't', 'server');
      if (now === 200 || now === 300) one.probe('t', 'server');
      if (now === 500) one.probe('t', 'success');
      if (now === 1100) one.open(now, 't', 'server');
      if (now === 1100) one.asksToWait('t', 2200);
      if (now === 2200) one.waited('t');
      if (now === 2201) one.probe('t', 'success');
    });
  });

  it('has none for a group that waits under its own name, but one for circuits beside those that wait', () => {
    const groups = [new SimulatedProcess({ tools: ['t', 'u', 'group:mcp'] })];
    const firing = [{ alert: 'CircuitOpen', after: 370, by: 450 + 3 * interval }];
    const says = [open(900, '4 circuits', 'u', { category: 'server', began: 'Jan 1 00:01 UTC', wait: WAIT })];
    return run({ interval, of, lasts: 1000, sessions: 4, processes: groups, firing, says }, (now, one) => {
      if (now !== 75) return;
      one.openGroup(now, 'group:mcp', [], 'server');
      one.asksToWait('group:mcp', 3000);
      one.open(now, 'u', 'server', 4);
      one.asksToWait('u', 3000);
    });
  });

  it('C14: has none for keys that wait, though nearly all calls are skipped for them', () =>
    run({ interval, of, lasts: 1500, processes: processes() }, (now, one) => {
      if (now < 60 || now % 10 !== 0) return;
      one.skipAsked('t', 4);
      if (now % 100 === 0) one.skip('t', 1, 'key_open');
    }));
});

const FILES = ['read', 'write', 'list'];

it.concurrent.each(wanted(15, 60))(
  'C13: a group fires one BreakerboxCircuitOpen under its own name, and none for its tools, every %i s',
  (interval) => {
    const GROUP = 'group:files';
    const processes = [new SimulatedProcess({ tools: [...FILES, 'calculator', GROUP] })];
    const of = ['CircuitOpen', 'CircuitFlapping', 'ToolErrorRateHigh', 'CorrelatedOpenings'];
    const firing = [
      { alert: 'CircuitOpen', after: 900, by: 980 + 2 * interval, until: 2404, gone: 2600 + 2 * interval },
    ];
    const says = [open(1800, '1 circuit', GROUP, { category: 'network', began: 'Jan 1 00:10 UTC' })];
    return run({ interval, of, lasts: 3600, processes, firing, says }, (now, one) => {
      const isOut = now >= 605 && now < 2405;
      if (now % 20 === 0 && !isOut) for (const tool of FILES) one.call(tool, 'success');
      // The tools fail in turn. One of them opened by itself a moment before.
      if (now === 600) one.open(now, 'read');
      if (now === 604) for (const tool of ['write', 'list']) one.call(tool, 'network');
      if (now === 605) one.openGroup(now, GROUP, ['read']);
      if (isOut && now % 20 === 0) for (const tool of FILES) one.skip(tool, 1, 'group_open');
      // Sessions probe by steps, and often: one tool probes for the whole group.
      if (isOut && now % 60 === 30) one.probeGroup(GROUP, FILES[(now / 30) % 3] ?? 'read', 'network');
      if (now === 2405) one.probeGroup(GROUP, 'read', 'success');
      if (now % 20 === 0) one.call('calculator', 'success');
    });
  },
);
