import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const HOUR = 3600;

describe.concurrent.each(INTERVALS)('BreakerboxTelemetryAbsent, every %i s', (interval) => {
  const of = among(interval, 'TelemetryAbsent');

  it('fires after 5 minutes without data, and resolves when the agent is back', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 1900 : 3000,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 1200) one.stop();
        if (now === 2400) one.start();
      },
      firing: [
        {
          alert: 'TelemetryAbsent',
          after: 1480,
          by: 1500 + 2 * interval,
          until: interval === 1 ? 1900 : 2399,
          gone: interval === 1 ? 1900 : 2400 + 2 * interval,
        },
      ],
    });
  });

  it('is silent about a run of 3 minutes, missed scrapes, restarts, and instances that come and go', async () => {
    const short = new SimulatedProcess({ agent: 'short' });
    const steady = new SimulatedProcess({ agent: 'steady' });
    const [old, next] = ['old', 'next'].map((instance) => new SimulatedProcess({ agent: 'moved', instance }));
    next?.stop();
    if (old === undefined || next === undefined) return;
    await run({
      interval,
      of,
      lasts: 1800,
      processes: [short, steady, old, next],
      second: (now) => {
        if (now === 0) for (const one of [short, steady, old]) one.begin();
        if (now === 180) short.stop();
        if (now === 1200) steady.stop();
        if (now === 1320) steady.start();
        if (now === 1200) old.stop();
        if (now === 1300) next.start();
      },
      missed: (now) => now === 600 || now === 1500,
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxTelemetryAbsent by push, evaluated every %i s', (interval) => {
  it('fires 5 minutes after the last push, although Prometheus returns that push for 5 minutes', async () => {
    const one = new SimulatedProcess();
    await run({
      interval: 60,
      evaluation: interval,
      pushed: true,
      lasts: 2400,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 1201) one.stop();
      },
      missed: (now) => now === 600,
      firing: [{ alert: 'TelemetryAbsent', after: 1480, by: 1500 + 2 * interval }],
    });
  });
});

it.concurrent('BreakerboxTelemetryAbsent is silent about an agent that comes and goes, and fires for one that was always there', async () => {
  const end = 75 * HOUR;
  const nightly = new SimulatedProcess({ agent: 'nightly' });
  const steady = [10, 13, 20, 30, 72].map((hours) => ({
    from: end - hours * HOUR,
    process: new SimulatedProcess({ agent: `for ${hours} h` }),
  }));
  for (const one of [nightly, ...steady.map(({ process }) => process)]) one.stop();
  await run({
    interval: 60,
    evaluation: 240,
    of: ['TelemetryAbsent'],
    lasts: end + 0.5 * HOUR,
    processes: [nightly, ...steady.map(({ process }) => process)],
    second: (now) => {
      if (now % (24 * HOUR) === 2 * HOUR) nightly.start();
      if (now % (24 * HOUR) === 2.5 * HOUR) nightly.stop();
      for (const { from, process } of steady) {
        if (now === from) process.start();
        if (now === end) process.stop();
      }
    },
    firing: [
      // One absence is not a habit.
      { alert: 'TelemetryAbsent', after: 2.5 * HOUR + 280, by: 2.5 * HOUR + 720, until: 3 * HOUR, gone: 3.6 * HOUR },
      { alert: 'TelemetryAbsent', count: steady.length, after: end + 280, by: end + 720 },
    ],
  });
});

it.concurrent('BreakerboxTelemetryAbsent names the agent', async () => {
  const one = new SimulatedProcess();
  await run({
    interval: 60,
    of: ['TelemetryAbsent'],
    lasts: 1800,
    processes: [one],
    second: (now) => {
      if (now === 0) one.begin();
      if (now === 1201) one.stop();
    },
    firing: [{ alert: 'TelemetryAbsent', after: 1480, by: 1620 }],
    exactly: [
      {
        at: 1800,
        alert: 'TelemetryAbsent',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', severity: 'warning' },
            exp_annotations: {
              summary: 'Agent a has stopped reporting',
              description:
                'Agent a (job fleet) has reported nothing for 5 minutes, after it reported for 21 of the last 60 minutes. It has ended, hangs, or cannot be reached. No other alert can see this agent now. This alert resolves by itself within the hour, even if nothing was repaired.',
              runbook_url:
                'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxTelemetryAbsent.md',
              dashboard_url: '/d/breakerbox-fleet-overview?var-job=fleet&var-agent=a',
            },
          },
        ],
      },
    ],
  });
});
