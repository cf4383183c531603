import { describe, it } from 'vitest';
import { among, INTERVALS, run, wanted } from './bench.ts';
import { agents, instances, SimulatedProcess } from './process.ts';

const NAMES = ['1', '2', '3'];
const TOOLS = ['x', 'y', 'z'];
const alert = 'CorrelatedOpenings';
const fires = { alert, scope: 'agent' };

/** Each process opens its own tool at its time; later all of them recover. */
const eachOpens =
  (at: readonly number[], recover = Number.POSITIVE_INFINITY) =>
  (now: number, ...processes: SimulatedProcess[]): void => {
    processes.forEach((one, index) => {
      const tool = TOOLS[index] ?? 'x';
      if (now === at[index]) one.open(now, tool);
      if (now === recover) one.probe(tool, 'success');
      // Otherwise the process works normally.
      if (now % 15 === 0) for (const other of TOOLS) if (other !== tool) one.call(other, 'success');
    });
  };

describe.concurrent.each(INTERVALS)('BreakerboxCorrelatedOpenings of one agent, every %i s', (interval) => {
  const of = among(interval, alert);

  it('fires when three processes have each opened a tool, holds while the circuits are open, then resolves', () => {
    const processes = instances(NAMES, { tools: TOOLS });
    // At 1 s only until it fires, because the rest takes time.
    const end = interval === 1 ? {} : { until: 1700, gone: 1900 + 2 * interval };
    const open = { alert: 'CircuitOpen', count: 3, after: 900, by: 1080 + 2 * interval, until: 1499 };
    const firing = [
      { ...fires, after: 700, by: 700 + 2 * interval, ...end },
      ...(of ? [] : [{ ...open, gone: 1580 + 2 * interval }]),
    ];
    const missed = (now: number) => now === 780;
    const lasts = interval === 1 ? 760 : 2400;
    return run({ interval, of, lasts, processes, missed, firing }, eachOpens([605, 640, 700], 1500));
  });
});

describe.concurrent.each(wanted(15, 60))('BreakerboxCorrelatedOpenings of one agent, every %i s', (interval) => {
  it('is silent about two tools, about three that open further apart, and about three categories', () => {
    const processes = agents(['two', 'apart', 'mixed'], { tools: ['a', 'b', 'k', 'l', 'm', ...TOOLS] });
    return run({ interval, of: [alert], lasts: 1500, processes }, (now, two, apart, mixed) => {
      if (now === 605) for (const tool of ['a', 'b']) two.open(now, tool);
      for (const [index, tool] of TOOLS.entries()) if (now === 605 + 65 * index) apart.open(now, tool);
      if (now === 605) mixed.open(now, 'k', 'network');
      if (now === 605) mixed.open(now, 'l', 'timeout');
      if (now === 605) mixed.open(now, 'm', 'server');
    });
  });

  it('counts first openings of processes that end a moment later, and one right after a restart', () => {
    const processes = instances(['restarted', '1', '2'], { tools: TOOLS });
    for (const one of processes.slice(1)) one.stop();
    // No circuit stays open for long: the alert ends 5 minutes after the last opening, and is kept for 5 more.
    const firing = [{ ...fires, after: 667, by: 670 + 2 * interval, until: 1200, gone: 1270 + 2 * interval }];
    return run({ interval, of: [alert], lasts: 1800, processes, firing }, (now, restarted, x, y) => {
      if (now === 600) for (const one of [x, y]) one.start();
      if (now === 601) for (const one of [x, y]) one.begin();
      // Each is scraped once with its opening, in its first samples.
      if (now === 601) x.open(now, 'x');
      if (now === 601) y.open(now, 'y');
      if (now === 665) for (const one of [x, y]) one.stop();
      // The circuit opened before, and the counter is 1 again after the restart.
      if (now === 60) restarted.open(now, 'z');
      if (now === 665) restarted.start();
      if (now === 666) restarted.begin();
      if (now === 667) restarted.open(now, 'z');
    });
  });

  it('fires when each push comes a minute late and one is missing', () => {
    const processes = instances(NAMES, { tools: TOOLS });
    const firing = [
      { ...fires, after: 700, by: 780 + 2 * interval },
      { alert: 'CircuitOpen', count: 3, after: 900, by: 1201 },
    ];
    const missed = (now: number) => now === 720;
    const scenario = { interval: 60, evaluation: interval, pushed: true, lasts: 1200, processes, missed, firing };
    return run(scenario, eachOpens([605, 640, 700]));
  });
});

describe.concurrent.each(INTERVALS)('BreakerboxCorrelatedOpenings of a fleet, every %i s', (interval) => {
  const of = among(interval, alert);

  it('fires when one tool opens on three agents with any jobs', () => {
    const processes = NAMES.map((name) => new SimulatedProcess({ agent: `agent-${name}`, job: `job-${name}` }));
    const firing = [
      { alert, scope: 'fleet', after: 365, by: 370 + 2 * interval },
      ...(of ? [] : [{ alert: 'CircuitOpen', count: 3, after: 600, by: 750 + 2 * interval }]),
    ];
    return run({ interval, of, lasts: interval === 1 ? 480 : 900, processes, firing }, (now, ...all) => {
      for (const [index, one] of all.entries()) if (now === 305 + index * 30) one.open(now, 't', 'server');
    });
  });

  it('is silent about two agents, and about one agent in three jobs', () => {
    const jobs = NAMES.map((job) => new SimulatedProcess({ agent: 'same', job, tools: ['y'] }));
    const processes = [...agents(['1', '2'], { tools: ['x'] }), ...jobs];
    return run({ interval, of: [alert], lasts: interval === 1 ? 300 : 600, processes }, (now, ...all) => {
      if (now === 65) for (const one of all) one.open(now, jobs.includes(one) ? 'y' : 'x');
    });
  });
});

describe.concurrent('BreakerboxCorrelatedOpenings, when circuits open by chance', () => {
  it('is silent among 500 sessions of which some always open, and fires when many do', () => {
    const processes = [new SimulatedProcess({ tools: TOOLS })];
    const firing = [{ ...fires, after: 1800, by: 1830 }];
    return run({ interval: 15, of: [alert], lasts: 2400, processes, sessions: 500, firing }, (now, one) => {
      for (const tool of TOOLS) {
        // Every 40 s, two circuits of each tool open, and probes close them.
        if (now % 40 === 5 && now < 1500) {
          if (now > 5) one.probe(tool, 'success', 2);
          one.open(now, tool, 'network', 2);
        }
        if (now === 1800) one.open(now, tool, 'network', 100);
      }
    });
  });

  it('is silent when three of 100 agents lose the same tool', () => {
    const processes = agents(Array.from({ length: 100 }, (_, index) => `a${index}`));
    return run({ interval: 60, of: [alert], lasts: 1200, processes }, (now) => {
      for (const [index, one] of processes.entries()) if (now === 300 + index * 40) one.open(now, 't');
    });
  });
});

describe.concurrent('BreakerboxCorrelatedOpenings says', () => {
  it('which tools of an agent opened together, and since when, also later, and no tool that had opened before', () => {
    const says = {
      at: 720,
      alert: 'CorrelatedOpenings',
      labels: { job: 'fleet', gen_ai_agent_name: 'a', error_type: 'network', severity: 'critical', scope: 'agent' },
      summary: 'a: x, y, z opened together (network)',
      description:
        'At least 3 tools of agent a (job fleet) opened within 2 minutes of each other with errors of category network, or did so earlier and are still out of use: x, y, z. Look for what these tools share. While this alert fires, Alertmanager mutes the warnings of the single tools. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
      dashboard: '/d/breakerbox-correlated-failures?var-job=fleet&var-agent=a',
      began: 'Jan 1 00:10 UTC',
    };
    const processes = instances(NAMES, { tools: [...TOOLS, 'before'] });
    const scenario = { interval: 15, of: [alert], lasts: 1800, processes, says: [says, { ...says, at: 1800 }] };
    const second = eachOpens([605, 640, 660]);
    return run({ ...scenario, firing: [{ ...fires, after: 660, by: 690 }] }, (now, ...all) => {
      second(now, ...all);
      if (now === 60) all[0]?.open(now, 'before');
    });
  });

  it('which agents, also hours later while it holds', () => {
    const says = {
      at: 3 * 3600,
      alert: 'CorrelatedOpenings',
      labels: { gen_ai_tool_name: 't', error_type: 'server', severity: 'critical', scope: 'fleet' },
      summary: 't opened on several agents together (server)',
      description:
        'Tool t (all jobs) opened on at least 3 agents within 2 minutes with errors of category server, or did so earlier and is still out of use there: agent-1, agent-2, agent-3. Look at the service behind the tool. Alertmanager mutes the warnings of the single agents during this alert. To see which sessions it affects and when the next probe is due: breakerbox ctl list.',
      dashboard: '/d/breakerbox-correlated-failures?var-tool=t',
      began: 'Jan 1 00:05 UTC',
    };
    const processes = agents(['agent-1', 'agent-2', 'agent-3']);
    const firing = [{ alert, scope: 'fleet', after: 305, by: 480 }];
    return run({ interval: 60, of: [alert], lasts: says.at, processes, firing, says: [says] }, (now, ...all) => {
      for (const one of all) {
        if (now === 305) one.open(now, 't', 'server');
        if (now > 305 && now % 300 === 0) one.probe('t', 'server');
      }
    });
  });
});
