import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

describe.concurrent.each(INTERVALS)('BreakerboxProbeStarved, every %i s', (interval) => {
  const of = among(interval, 'ProbeStarved');
  /** A tool that is open for so long also fires BreakerboxCircuitOpen. */
  const alsoOpen = (after: number, by: number, until?: number, gone?: number) =>
    of === undefined
      ? [{ alert: 'CircuitOpen', after, by: by + 2 * interval, ...(until && { until }), ...(gone && { gone }) }]
      : [];

  it('fires after 10 minutes of skips without a probe, and resolves at the first probe', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 1200,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 60) one.open(now, 't');
        if (now > 60 && now < 900 && now % 20 === 0) one.skip('t');
        if (now === 900) one.probe('t', 'success');
      },
      missed: (now) => now === 780,
      firing: [
        { alert: 'ProbeStarved', after: 660, by: 660 + 2 * interval, until: 899, gone: 900 + 2 * interval },
        ...alsoOpen(360, 435, 899, 975 + 2 * interval),
      ],
    });
  });

  it('is silent when a probe fails now and then, for an hour', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 1500 : 3600,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 60) one.open(now, 't');
        if (now > 60 && now % 20 === 0) one.skip('t');
        if (now > 60 && now % 300 === 0) one.probe('t', 'network');
      },
      firing: alsoOpen(360, 435),
    });
  });

  it('is silent when the agent stops asking for the tool, after a few skips at the beginning', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 1500,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 60) one.open(now, 't');
        if (now > 60 && now < 200 && now % 20 === 0) one.skip('t');
      },
      firing: alsoOpen(360, 435),
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxProbeStarved, every %i s', (interval) => {
  it('is silent about a tool that is forced open, and one that short sessions find dead again and again', async () => {
    const forced = new SimulatedProcess({ agent: 'forced' });
    const short = new SimulatedProcess({ agent: 'short' });
    await run({
      interval,
      of: ['ProbeStarved'],
      lasts: 1800,
      processes: [forced, short],
      second: (now) => {
        if (now === 0) forced.begin();
        if (now === 5) forced.move('t', 'closed', 'forced_open');
        if (now % 20 === 0) for (const one of [forced, short]) one.skip('t');
        // Sessions overlap, so that a circuit is always open, and no session lives until its first probe.
        if (now % 30 === 0) {
          if (now >= 60) short.end(1, { t: 'open' });
          short.begin();
        }
        if (now % 30 === 10) short.open(now, 't');
      },
    });
  });

  it('is silent when calls are skipped for other reasons than the open circuit', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of: ['ProbeStarved'],
      lasts: 1500,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        if (now === 60) one.open(now, 't');
        if (now <= 60 || now % 20 !== 0) return;
        for (const reason of ['unavailable', 'not_allowed', 'repeat'] as const) one.skip('t', 1, reason);
      },
    });
  });

  it('is silent for 10 minutes about an agent that restarts with its circuit open', async () => {
    const one = new SimulatedProcess();
    one.stop();
    await run({
      interval,
      of: ['ProbeStarved'],
      lasts: 1000,
      processes: [one],
      second: (now) => {
        if (now === 300) {
          one.start();
          one.begin();
          one.move('t', 'closed', 'open');
        }
        if (now > 300 && now % 20 === 0) one.skip('t');
      },
      firing: [{ alert: 'ProbeStarved', after: 890, by: 1001 }],
    });
  });
});

it.concurrent('BreakerboxProbeStarved says which tool', async () => {
  const one = new SimulatedProcess();
  await run({
    interval: 15,
    of: ['ProbeStarved'],
    lasts: 720,
    processes: [one],
    second: (now) => {
      if (now === 0) one.begin();
      if (now === 60) one.open(now, 't');
      if (now > 60 && now % 20 === 0) one.skip('t');
    },
    firing: [{ alert: 'ProbeStarved', after: 660, by: 690 }],
    exactly: [
      {
        at: 720,
        alert: 'ProbeStarved',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
            exp_annotations: {
              summary: 'Open circuits of agent a are not probed',
              description:
                '1 circuit(s) of tool t of agent a (job fleet) have been open for 10 minutes. The agent asks for the tool, but its calls are skipped and none runs as a probe. Without a probe, Breakerbox cannot see that the tool works again.',
              runbook_url:
                'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxProbeStarved.md',
              dashboard_url: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
            },
          },
        ],
      },
    ],
  });
});
