import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

describe.concurrent.each(INTERVALS)('BreakerboxCircuitFlapping, every %i s', (interval) => {
  const of = among(interval, 'CircuitFlapping');

  it('fires at the fourth opening in 15 minutes, and resolves when they have left the window', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 1000 : 2700,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now <= 720 && now % 180 === 60) one.open(now, 't');
        if (now <= 840 && now > 120 && now % 180 === 120) one.probe('t', 'success');
        if (now === 120) one.probe('t', 'success');
        if (now % 60 >= 50 || now % 180 < 60) one.call('t', 'success');
      },
      firing: [
        // From the fourth (600 s) on. At 960 s the first leaves the window, and the alert is kept for 5 more minutes.
        {
          alert: 'CircuitFlapping',
          after: 600,
          by: 600 + 2 * interval,
          until: interval === 1 ? 1000 : 1200,
          gone: interval === 1 ? 1000 : 1380,
        },
      ],
    });
  });

  it('is silent about three', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 1300 : 2700,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now % 310 === 60) one.open(now, 't');
        if (now % 310 === 120) one.probe('t', 'success');
        if (now % 310 > 120) one.call('t', 'success');
      },
    });
  });

  it('fires when each short session finds a dead tool again', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 900,
      processes: [one],
      second: (now) => {
        if (now % 120 === 0) {
          if (now > 0) one.end(1, { t: 'open' });
          one.begin();
        }
        if (now % 120 === 80) one.open(now, 't');
      },
      firing: [
        { alert: 'CircuitFlapping', after: 440, by: 450 + 2 * interval },
        ...(of === undefined ? [{ alert: 'BudgetBurnSlow', after: 0, by: 901 }] : []),
      ],
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxCircuitFlapping in a fleet, every %i s', (interval) => {
  it('is silent about one outage in 500 sessions, and about failed probes', async () => {
    const fleet = new SimulatedProcess({ agent: 'fleet' });
    const probing = new SimulatedProcess({ agent: 'probing' });
    await run({
      interval,
      of: ['CircuitFlapping'],
      lasts: 1800,
      processes: [fleet, probing],
      second: (now) => {
        if (now === 0) {
          fleet.begin(500);
          probing.begin();
        }
        if (now > 60 && now <= 310) fleet.open(now, 't', 'network', 2);
        if (now === 60) probing.open(now, 't');
        if (now > 60 && now % 60 === 0) probing.probe('t', 'network');
      },
    });
  });

  it('is silent when processes come back after a gap of two hours, with their old openings', async () => {
    const one = new SimulatedProcess();
    await run({
      interval: 60,
      of: ['CircuitFlapping'],
      lasts: 4 * 3600,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now < 4500 && now % 450 === 100) one.open(now, 't');
        if (now < 4500 && now % 450 === 160) one.probe('t', 'success');
      },
      missed: (now) => now > 4500 && now < 4500 + 7200,
    });
  });

  it('is silent about a dead tool that each session finds again, if BreakerboxCircuitOpen sees it', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of: ['CircuitFlapping', 'CircuitOpen'],
      lasts: 2400,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now > 60 && now % 60 === 30) {
          one.end(1, { t: 'open' });
          one.begin();
        }
        if (now % 60 === 40) one.open(now, 't');
      },
      firing: [{ alert: 'CircuitOpen', after: 340, by: 600 }],
    });
  });

  it('is silent when restarts reset the counters', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of: ['CircuitFlapping'],
      lasts: 2400,
      processes: [one],
      second: (now) => {
        if (now % 300 === 0) {
          one.start();
          one.begin();
        }
        if (now % 300 === 200) one.open(now, 't');
        if (now % 300 === 260) one.probe('t', 'success');
      },
    });
  });
});

it.concurrent('BreakerboxCircuitFlapping counts processes of one session each, whose first scrape has the opening', async () => {
  const old = new SimulatedProcess({ instance: 'old', tools: [] });
  const batch = Array.from({ length: 24 }, (_, index) => new SimulatedProcess({ instance: `batch-${index}` }));
  for (const one of batch) one.stop();
  await run({
    interval: 15,
    of: ['CircuitFlapping'],
    lasts: 2400,
    processes: [old, ...batch],
    second: (now) => {
      const one = batch[Math.floor(now / 120)];
      if (now % 120 === 1) one?.start();
      if (now % 120 === 2) one?.begin();
      // Open for half a minute, then the process ends.
      if (now % 120 === 55) one?.open(now, 't');
      if (now % 120 === 95) one?.stop();
    },
    firing: [{ alert: 'CircuitFlapping', after: 0, by: 1500 }],
  });
});

it.concurrent('BreakerboxCircuitFlapping says the number of openings', async () => {
  const one = new SimulatedProcess();
  await run({
    interval: 15,
    of: ['CircuitFlapping'],
    lasts: 900,
    processes: [one],
    second: (now) => {
      if (now === 0) one.begin();
      if (now % 180 === 60) one.open(now, 't');
      if (now % 180 === 120) one.probe('t', 'success');
    },
    firing: [{ alert: 'CircuitFlapping', after: 600, by: 630 }],
    exactly: [
      {
        at: 660,
        alert: 'CircuitFlapping',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
            exp_annotations: {
              summary: 'Circuits of agent a open again and again',
              description:
                'Each circuit of tool t of agent a (job fleet) has opened 4 times within 15 minutes. Either the tool fails and recovers in turn, or it is down and each new session has to find that out.',
              runbook_url:
                'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxCircuitFlapping.md',
              dashboard_url: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
            },
          },
        ],
      },
    ],
  });
});
