import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

/** A call every 10 seconds. Of ten, this many fail, never three in a row. */
const calls = (one: SimulatedProcess, now: number, failing: number): void => {
  if (now % 10 !== 0) return;
  one.call('t', ((now / 10) * failing) % 10 < failing ? 'server' : 'success');
};

describe.concurrent.each(INTERVALS)('BreakerboxToolErrorRateHigh, every %i s', (interval) => {
  const of = among(interval, 'ToolErrorRateHigh');

  it('fires after 10 minutes of 40 % failures, across a missed scrape, and resolves when they have left the 5 minutes', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      // At 1 s only until it fires, because the rest takes time.
      lasts: interval === 1 ? 860 : 1500,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        calls(one, now, now > 60 && now <= 900 ? 4 : 0);
      },
      missed: (now) => now === 300,
      firing: [
        {
          alert: 'ToolErrorRateHigh',
          after: 660,
          by: 780 + 3 * interval,
          ...(interval === 1 ? {} : { until: 900, gone: 1140 + 2 * interval }),
        },
      ],
    });
  });

  it('is silent about 20 % failures', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 800 : 1200,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        calls(one, now, 2);
      },
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxToolErrorRateHigh and an outage, every %i s', (interval) => {
  it('is silent during an outage and after it, if BreakerboxCircuitOpen fired', async () => {
    const one = new SimulatedProcess();
    const { open, over } = { open: 120, over: 900 };
    await run({
      interval,
      lasts: 2400,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin(5);
        if (now === open) one.open(now, 't', 'network', 5);
        if (now > open && now < over && now % 60 === 0) one.probe('t', 'network', 5);
        if (now === over) one.probe('t', 'success', 5);
        if (now < open - 60 || now > over) calls(one, now, 1);
      },
      firing: [{ alert: 'CircuitOpen', after: 420, by: 495 + 2 * interval, until: 1010, gone: 1095 + 2 * interval }],
    });
  });

  it('fires when a tool is out of use half of the time, but never long enough for BreakerboxCircuitOpen', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of: ['ToolErrorRateHigh', 'CircuitOpen', 'CircuitFlapping'],
      lasts: 7200,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin();
        const turn = now % 480;
        if (turn === 240) one.open(now, 't', 'server');
        else if (turn > 240 && turn % 60 === 0) one.probe('t', 'server');
        else if (turn === 0 && now > 0) one.probe('t', 'success');
        else if (turn < 240 && turn % 20 === 10) one.call('t', turn % 40 === 10 ? 'server' : 'success');
      },
      firing: [{ alert: 'ToolErrorRateHigh', after: 600, by: 1200 }],
    });
  });

  it('is silent about an outage of four minutes', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      lasts: 1500,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin(5);
        if (now === 120) one.open(now, 't', 'network', 5);
        if (now > 120 && now < 360 && now % 60 === 0) one.probe('t', 'network', 5);
        if (now === 360) one.probe('t', 'success', 5);
        if (now > 360) calls(one, now, 0);
      },
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxToolErrorRateHigh, every %i s', (interval) => {
  it('is silent about few calls, about a bad quarter of an hour in a good hour, and over restarts', async () => {
    const rare = new SimulatedProcess({ agent: 'rare' });
    const good = new SimulatedProcess({ agent: 'good' });
    const restarting = new SimulatedProcess({ agent: 'restarting' });
    await run({
      interval,
      of: ['ToolErrorRateHigh'],
      lasts: 3600,
      processes: [rare, good, restarting],
      second: (now) => {
        if (now === 0) for (const one of [rare, good]) one.begin();
        if (now % 500 === 0) rare.call('t', 'server');
        calls(good, now, now >= 2400 && now < 3300 ? 4 : 0);
        if (now % 600 === 0) {
          restarting.start();
          restarting.begin();
        }
        calls(restarting, now, 2);
      },
    });
  });
});

it.concurrent('BreakerboxToolErrorRateHigh says the share', async () => {
  const one = new SimulatedProcess();
  await run({
    interval: 60,
    of: ['ToolErrorRateHigh'],
    lasts: 1080,
    processes: [one],
    second: (now) => {
      if (now === 0) one.begin();
      calls(one, now, 5);
    },
    firing: [{ alert: 'ToolErrorRateHigh', after: 600, by: 840 }],
    exactly: [
      {
        at: 1080,
        alert: 'ToolErrorRateHigh',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'a', gen_ai_tool_name: 't', severity: 'warning' },
            exp_annotations: {
              summary: 'Tools of agent a fail too often',
              description:
                '50% of the calls to tool t of agent a (job fleet) have failed over the last 5 minutes, and more than 25 % over the last hour. Too few fail in a row to keep a circuit open, so the agent continues, and each failure costs it time and budget.',
              runbook_url:
                'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/BreakerboxToolErrorRateHigh.md',
              dashboard_url: '/d/breakerbox-tool-detail?var-job=fleet&var-agent=a&var-tool=t',
            },
          },
        ],
      },
    ],
  });
});
