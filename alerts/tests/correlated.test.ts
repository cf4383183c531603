import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const RUNBOOK = 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxCorrelatedOpenings.md';
const TOOLS = ['x', 'y', 'z'];

/** One agent in three processes, each with all tools; or three agents. */
const three = (options: 'instances' | 'agents', tools: readonly string[] = TOOLS): SimulatedProcess[] =>
  ['1', '2', '3'].map(
    (name) =>
      new SimulatedProcess(options === 'agents' ? { agent: `agent-${name}`, tools } : { instance: name, tools }),
  );

/** Each process opens its own tool at its time; later all of them recover. */
const eachOpens =
  (processes: readonly SimulatedProcess[], at: readonly number[], recover = Number.POSITIVE_INFINITY) =>
  (now: number): void => {
    processes.forEach((one, index) => {
      const tool = TOOLS[index] ?? 'x';
      if (now === 0) one.begin();
      if (now === at[index]) one.open(now, tool);
      if (now === recover) one.probe(tool, 'success');
      // Otherwise the process works normally.
      if (now % 15 === 0) for (const other of TOOLS) if (other !== tool) one.call(other, 'success');
    });
  };

describe.concurrent.each(INTERVALS)('BreakerboxCorrelatedOpenings of one agent, every %i s', (interval) => {
  const of = among(interval, 'CorrelatedOpenings');
  const fires = { alert: 'CorrelatedOpenings', scope: 'agent' };

  it('fires when three processes have each opened a tool, holds while the circuits are open, then resolves', async () => {
    const processes = three('instances');
    await run({
      interval,
      of,
      // At 1 s only until it fires, because the rest takes time.
      lasts: interval === 1 ? 760 : 2400,
      processes,
      second: eachOpens(processes, [605, 640, 700], 1500),
      missed: (now) => now === 780,
      firing: [
        {
          ...fires,
          after: 700,
          by: 700 + 2 * interval,
          ...(interval === 1 ? {} : { until: 1700, gone: 1900 + 2 * interval }),
        },
        ...(of
          ? []
          : [
              {
                alert: 'CircuitOpen',
                count: 3,
                after: 900,
                by: 1080 + 2 * interval,
                until: 1499,
                gone: 1580 + 2 * interval,
              },
            ]),
      ],
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxCorrelatedOpenings of one agent, every %i s', (interval) => {
  const fires = { alert: 'CorrelatedOpenings', scope: 'agent' };

  it('is silent about two tools, about three that open further apart, and about three categories', async () => {
    const two = new SimulatedProcess({ agent: 'two', tools: ['a', 'b'] });
    const apart = new SimulatedProcess({ agent: 'apart', tools: TOOLS });
    const mixed = new SimulatedProcess({ agent: 'mixed', tools: ['k', 'l', 'm'] });
    const all = [two, apart, mixed];
    await run({
      interval,
      of: ['CorrelatedOpenings'],
      lasts: 1500,
      processes: all,
      second: (now) => {
        if (now === 0) for (const one of all) one.begin();
        if (now === 605) two.open(now, 'a');
        if (now === 605) two.open(now, 'b');
        if (now === 605) apart.open(now, 'x');
        if (now === 670) apart.open(now, 'y');
        if (now === 735) apart.open(now, 'z');
        if (now === 605) mixed.open(now, 'k', 'network');
        if (now === 605) mixed.open(now, 'l', 'timeout');
        if (now === 605) mixed.open(now, 'm', 'server');
      },
    });
  });

  it('counts first openings of processes that end a moment later, and one right after a restart', async () => {
    const gone = ['1', '2'].map((instance) => new SimulatedProcess({ instance, tools: TOOLS }));
    const restarted = new SimulatedProcess({ instance: '3', tools: TOOLS });
    for (const one of gone) one.stop();
    const [x, y] = gone;
    await run({
      interval,
      of: ['CorrelatedOpenings'],
      lasts: 1800,
      processes: [...gone, restarted],
      second: (now) => {
        if (now === 0) restarted.begin();
        if (now === 600) for (const one of gone) one.start();
        if (now === 601) for (const one of gone) one.begin();
        // Each is scraped once with its opening, in its first samples.
        if (now === 601) x?.open(now, 'x');
        if (now === 601) y?.open(now, 'y');
        if (now === 665) for (const one of gone) one.stop();
        // The circuit opened before, and the counter is 1 again after the restart.
        if (now === 60) restarted.open(now, 'z');
        if (now === 665) restarted.start();
        if (now === 666) restarted.begin();
        if (now === 667) restarted.open(now, 'z');
      },
      // No circuit stays open for long: the alert ends 5 minutes after the last opening, and is kept for 5 more.
      firing: [{ ...fires, after: 667, by: 670 + 2 * interval, until: 1200, gone: 1270 + 2 * interval }],
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxCorrelatedOpenings by push, every %i s', (interval) => {
  it('fires when each push comes a minute late and one is missing', async () => {
    const processes = three('instances');
    await run({
      interval: 60,
      evaluation: interval,
      pushed: true,
      lasts: 1200,
      processes,
      second: eachOpens(processes, [605, 640, 700]),
      missed: (now) => now === 720,
      firing: [
        { alert: 'CorrelatedOpenings', scope: 'agent', after: 700, by: 780 + 2 * interval },
        { alert: 'CircuitOpen', count: 3, after: 900, by: 1201 },
      ],
    });
  });
});

describe.concurrent.each(INTERVALS)('BreakerboxCorrelatedOpenings of a fleet, every %i s', (interval) => {
  const of = among(interval, 'CorrelatedOpenings');

  it('fires when one tool opens on three agents, whatever their jobs', async () => {
    const agents = ['1', '2', '3'].map(
      (name) => new SimulatedProcess({ agent: `agent-${name}`, job: `job-${name}`, tools: ['x'] }),
    );
    await run({
      interval,
      of,
      lasts: interval === 1 ? 480 : 900,
      processes: agents,
      second: (now) => {
        agents.forEach((one, index) => {
          if (now === 0) one.begin();
          if (now === 305 + index * 30) one.open(now, 'x', 'server');
        });
      },
      firing: [
        { alert: 'CorrelatedOpenings', scope: 'fleet', after: 365, by: 370 + 2 * interval },
        ...(of ? [] : [{ alert: 'CircuitOpen', count: 3, after: 600, by: 750 + 2 * interval }]),
      ],
    });
  });

  it('is silent about two agents, and about one agent in three jobs', async () => {
    const agents = ['1', '2'].map((name) => new SimulatedProcess({ agent: `agent-${name}`, tools: ['x'] }));
    const jobs = ['1', '2', '3'].map((job) => new SimulatedProcess({ agent: 'same', job, tools: ['y'] }));
    await run({
      interval,
      of: ['CorrelatedOpenings'],
      lasts: interval === 1 ? 300 : 600,
      processes: [...agents, ...jobs],
      second: (now) => {
        for (const one of [...agents, ...jobs]) if (now === 0) one.begin();
        if (now === 65) for (const one of agents) one.open(now, 'x');
        if (now === 65) for (const one of jobs) one.open(now, 'y');
      },
    });
  });
});

describe.concurrent('BreakerboxCorrelatedOpenings, when circuits open by chance', () => {
  it('is silent among 500 sessions of which some always open, and fires when many do', async () => {
    const one = new SimulatedProcess({ tools: TOOLS });
    await run({
      interval: 15,
      of: ['CorrelatedOpenings'],
      lasts: 2400,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin(500);
        // Every 40 s, two circuits of each tool open, and probes close them.
        if (now % 40 === 5 && now < 1500) {
          for (const tool of TOOLS) {
            if (now > 5) one.probe(tool, 'success', 2);
            one.open(now, tool, 'network', 2);
          }
        }
        if (now === 1800) for (const tool of TOOLS) one.open(now, tool, 'network', 100);
      },
      firing: [{ alert: 'CorrelatedOpenings', scope: 'agent', after: 1800, by: 1830 }],
    });
  });

  it('is silent when three of 100 agents lose the same tool', async () => {
    const agents = Array.from(
      { length: 100 },
      (_, index) => new SimulatedProcess({ agent: `a${index}`, tools: ['x'] }),
    );
    await run({
      interval: 60,
      of: ['CorrelatedOpenings'],
      lasts: 1200,
      processes: agents,
      second: (now) => {
        agents.forEach((one, index) => {
          if (now === 0) one.begin();
          if (now === 300 + index * 40) one.open(now, 'x');
        });
      },
    });
  });
});

describe.concurrent('BreakerboxCorrelatedOpenings says', () => {
  it('which tools of an agent', async () => {
    const processes = three('instances');
    await run({
      interval: 15,
      of: ['CorrelatedOpenings'],
      lasts: 720,
      processes,
      second: eachOpens(processes, [605, 640, 660]),
      firing: [{ alert: 'CorrelatedOpenings', scope: 'agent', after: 660, by: 690 }],
      exactly: [
        {
          at: 720,
          alert: 'CorrelatedOpenings',
          alerts: [
            {
              exp_labels: {
                job: 'fleet',
                gen_ai_agent_name: 'a',
                error_type: 'network',
                severity: 'critical',
                scope: 'agent',
              },
              exp_annotations: {
                summary: 'Several tools of agent a opened together',
                description:
                  '3 tools of agent a (job fleet) opened within 2 minutes with errors of category network, or have been out of use since then: x y z. Look for what they share. Alertmanager mutes their own warnings during this alert.',
                runbook_url: RUNBOOK,
                dashboard_url: '/d/breakerbox-correlated-failures?var-job=fleet&var-agent=a',
              },
            },
          ],
        },
      ],
    });
  });

  it('which agents, also hours later while it holds', async () => {
    const agents = three('agents', ['x']);
    await run({
      interval: 60,
      of: ['CorrelatedOpenings'],
      lasts: 3 * 3600,
      processes: agents,
      second: (now) => {
        for (const one of agents) {
          if (now === 0) one.begin();
          if (now === 305) one.open(now, 'x', 'server');
          if (now > 305 && now % 300 === 0) one.probe('x', 'server');
        }
      },
      firing: [{ alert: 'CorrelatedOpenings', scope: 'fleet', after: 305, by: 480 }],
      exactly: [
        {
          at: 3 * 3600,
          alert: 'CorrelatedOpenings',
          alerts: [
            {
              exp_labels: { gen_ai_tool_name: 'x', error_type: 'server', severity: 'critical', scope: 'fleet' },
              exp_annotations: {
                summary: 'A tool opened on several agents together',
                description:
                  'Tool x opened on 3 agents within 2 minutes with errors of category server, or has been out of use there since then: agent-1 agent-2 agent-3. Look at the service behind the tool. Alertmanager mutes the warnings of the single agents during this alert.',
                runbook_url: RUNBOOK,
                dashboard_url: '/d/breakerbox-correlated-failures?var-tool=x',
              },
            },
          ],
        },
      ],
    });
  });
});
