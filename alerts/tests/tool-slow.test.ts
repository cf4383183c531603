import { describe, it } from 'vitest';
import { run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const HOUR = 3600;
/** A shorter history: a day takes long to evaluate, and an hour tests the same. */
const options = { settings: { slowLeastHistory: '1h' } };

interface Slow {
  readonly interval: number;
  readonly took: (now: number) => number;
  readonly every?: number;
  readonly lasts?: number;
  readonly missed?: (now: number) => boolean;
}

const scenario = ({ interval, took, every = 10, lasts = 3 * HOUR, missed }: Slow) => {
  const one = new SimulatedProcess();
  return {
    interval,
    options,
    of: ['ToolSlow'],
    lasts,
    processes: [one],
    ...(missed && { missed }),
    second: (now: number) => {
      if (now === 0) one.begin();
      if (now % every === 0) one.call('t', 'success', 1, took(now));
    },
  };
};

describe.concurrent.each([15, 60])('BreakerboxToolSlow, every %i s', (interval) => {
  it('fires after 15 minutes, across a missed scrape, and resolves after 5 fast minutes', () =>
    run({
      ...scenario({
        interval,
        took: (now) => (now >= 1.5 * HOUR && now < 2.2 * HOUR ? 4 : 0.5),
        missed: (now) => now === 1.8 * HOUR,
      }),
      firing: [
        {
          alert: 'ToolSlow',
          after: 1.5 * HOUR + 900,
          by: 1.5 * HOUR + 1080,
          until: 2.2 * HOUR,
          gone: 2.2 * HOUR + 360 + interval,
        },
      ],
    }));

  it('is silent about twice the usual time, about one slow minute, and about slower calls that are still fast', async () => {
    await run(scenario({ interval, took: (now) => (now >= 1.5 * HOUR ? 1.28 : 0.6) }));
    await run(scenario({ interval, took: (now) => (now >= 1.5 * HOUR && now < 1.5 * HOUR + 240 ? 20 : 0.5) }));
    await run(scenario({ interval, took: (now) => (now >= 1.5 * HOUR ? 0.6 : 0.1) }));
  });

  it('is silent without history, and about few calls', async () => {
    await run(scenario({ interval, lasts: 0.9 * HOUR, took: (now) => (now >= 600 ? 20 : 0.5) }));
    await run(scenario({ interval, every: 60, took: (now) => (now >= 1.5 * HOUR ? 20 : 0.5) }));
  });
});

it.concurrent('BreakerboxToolSlow is silent about timeouts during BreakerboxCircuitOpen, and when they are over', async () => {
  const one = new SimulatedProcess();
  const outage = (now: number): boolean => now >= 1.5 * HOUR && now < 1.5 * HOUR + 1200;
  await run({
    interval: 60,
    options,
    of: ['ToolSlow', 'CircuitOpen'],
    lasts: 3 * HOUR,
    processes: [one],
    second: (now) => {
      if (now === 0) one.begin(20);
      if (now === 1.5 * HOUR) one.open(now, 't', 'timeout', 20);
      if (outage(now)) {
        if (now % 10 === 0) one.call('t', 'timeout', 2, 30);
      } else if (now % 10 === 0) one.call('t', 'success', 1, 0.5);
      if (now === 1.5 * HOUR + 1200) one.probe('t', 'success', 20);
    },
    firing: [
      {
        alert: 'CircuitOpen',
        after: 1.5 * HOUR + 300,
        by: 1.5 * HOUR + 500,
        until: 1.5 * HOUR + 1200,
        gone: 1.5 * HOUR + 1400,
      },
    ],
  });
});

it.concurrent('BreakerboxToolSlow works at 1 s, with shorter times', () =>
  run({
    ...scenario({ interval: 1, lasts: 1290, took: (now) => (now >= 965 ? 4 : 0.5) }),
    options: { settings: { slowLeastHistory: '10m', slowFor: '3m' } },
    firing: [{ alert: 'ToolSlow', after: 1145, by: 1250 }],
  }));

it.concurrent('BreakerboxToolSlow says the p95', () =>
  run({
    ...scenario({ interval: 60, lasts: 2.5 * HOUR, took: (now) => (now >= 1.5 * HOUR ? 4 : 0.5) }),
    firing: [{ alert: 'ToolSlow', after: 1.5 * HOUR + 900, by: 1.5 * HOUR + 1080 }],
    exactly: [
      {
        at: 2.5 * HOUR,
        alert: 'ToolSlow',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
            exp_annotations: {
              summary: 'Tools of agent a are much slower than usual',
              description:
                'One in twenty calls to tool t of agent a (job fleet) takes at least 4.928s. That is more than 3 times the usual value of the last week.',
              runbook_url: 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxToolSlow.md',
              dashboard_url: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
            },
          },
        ],
      },
    ],
  }));
