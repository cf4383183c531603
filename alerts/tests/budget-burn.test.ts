import { describe, it } from 'vitest';
import { among, INTERVALS, run } from './bench.ts';
import { SimulatedProcess } from './process.ts';

const HOUR = 3600;

/** Sessions of equal length, one after the other. Of ten, this many fall to one failure left, late in their time. */
const burn = (one: SimulatedProcess, now: number, lasts: number, low: number): void => {
  if (now % lasts === 0) {
    if (now > 0) one.end();
    one.begin();
  }
  const session = Math.floor(now / lasts);
  // Spread evenly: 3 of 10 are the 4th, 7th and 10th.
  const falls = Math.floor(((session + 1) * low) / 10) > Math.floor((session * low) / 10);
  if (falls && now % lasts === Math.floor(lasts * 0.8)) one.fallLow();
};

describe.concurrent.each(INTERVALS)('BreakerboxBudgetBurnFast, every %i s', (interval) => {
  const of = among(interval, 'BudgetBurnFast');

  it('fires when sessions fall low, and resolves 20 minutes after the last one', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 700 : 4200,
      processes: [one],
      second: (now) => {
        burn(one, now, 60, now < 2400 ? 10 : 0);
      },
      missed: (now) => now === 600,
      firing: [
        // The fifth session falls at 288.
        { alert: 'BudgetBurnFast', after: 285, by: 660, ...(interval === 1 ? {} : { until: 2400, gone: 3700 }) },
      ],
    });
  });

  it('is silent when fewer than half of the sessions do', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: interval === 1 ? 600 : 2400,
      processes: [one],
      second: (now) => {
        burn(one, now, 60, 4);
      },
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxBudgetBurnFast, every %i s', (interval) => {
  const of = ['BudgetBurnFast'];

  it('fires when each process runs one session and is first scraped with it', async () => {
    const old = new SimulatedProcess({ instance: 'old' });
    const batch = Array.from({ length: 90 }, (_, index) => new SimulatedProcess({ instance: `batch-${index}` }));
    for (const one of batch) one.stop();
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [old, ...batch],
      second: (now) => {
        const one = batch[Math.floor(now / 120)];
        if (now % 120 === 1) {
          one?.start();
          one?.begin();
        }
        if (now % 120 === 40) one?.fallLow();
        if (now % 120 === 119) one?.stop();
      },
      firing: [{ alert: 'BudgetBurnFast', after: 520, by: 1.5 * HOUR }],
    });
  });

  it('fires when sessions last longer than both windows, and most of them fall within the hour', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [one],
      second: (now) => {
        if (now === 0) one.begin(50);
        if (now > HOUR && now <= 2 * HOUR && now % 90 === 0) one.fallLow();
      },
      // 25 of 50 are exactly half; the alert needs more than half.
      firing: [
        { alert: 'BudgetBurnFast', after: HOUR + 2200, by: HOUR + 2700, until: 2 * HOUR, gone: 2 * HOUR + 1400 },
      ],
    });
  });

  it('is silent about few sessions, about few of many long ones, without sessions, and over restarts', async () => {
    const few = new SimulatedProcess({ agent: 'few' });
    const long = new SimulatedProcess({ agent: 'long' });
    const none = new SimulatedProcess({ agent: 'none' });
    const restarting = new SimulatedProcess({ agent: 'restarting' });
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [few, long, none, restarting],
      second: (now) => {
        burn(few, now, 1200, 10);
        if (now === 0) long.begin(500);
        if (now > HOUR && now % 60 === 0) long.fallLow();
        if (now > HOUR && now % 600 === 0) long.begin();
        if (now % 900 === 0) restarting.start();
        burn(restarting, now % 900, 60, 4);
      },
    });
  });

  it('is silent when a fleet ends its work: the last sessions fall, and no session starts', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [one],
      second: (now) => {
        // Sessions of half an hour, one started every 20 seconds until 1:30; one in three falls.
        if (now % 20 !== 0) return;
        if (now < 1.5 * HOUR) one.begin();
        if (now >= 0.5 * HOUR && now < 2 * HOUR) one.end();
        if (now % 60 === 0 && now >= 0.5 * HOUR && now < 2 * HOUR) one.fallLow();
      },
    });
  });
});

describe.concurrent.each([15, 60])('BreakerboxBudgetBurnSlow, every %i s', (interval) => {
  const of = ['BudgetBurnSlow'];

  it('fires when sessions fall low for hours, and resolves an hour and a half after', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      // At 15 s only until it fires, because hours take time.
      lasts: (interval === 15 ? 2.5 : 7) * HOUR,
      processes: [one],
      second: (now) => {
        burn(one, now, 300, now < 4 * HOUR ? 4 : 0);
      },
      missed: (now) => now === 3 * HOUR,
      firing: [
        {
          alert: 'BudgetBurnSlow',
          after: HOUR,
          by: 2 * HOUR,
          ...(interval === 60 && { until: 4 * HOUR, gone: 5.6 * HOUR }),
        },
      ],
    });
  });

  it('is silent about one in five, about few sessions, and about an agent that has just started', async () => {
    const less = new SimulatedProcess({ agent: 'less' });
    const few = new SimulatedProcess({ agent: 'few' });
    const young = new SimulatedProcess({ agent: 'young' });
    await run({
      interval,
      of: ['BudgetBurnSlow'],
      lasts: 4 * HOUR,
      processes: [less, few, young],
      second: (now) => {
        burn(less, now, 300, 2);
        burn(few, now, HOUR, 10);
        burn(young, now, 60, now < 0.7 * HOUR ? 4 : 0);
      },
    });
  });
});

describe.concurrent('BreakerboxBudgetBurnSlow after a fast burn of two hours', () => {
  const interval = 60;
  const of = ['BudgetBurnFast', 'BudgetBurnSlow'];
  const end = 2 * HOUR;
  const fast = { alert: 'BudgetBurnFast', after: 285, by: 660, until: end, gone: end + 1300 };

  it('is silent while the burn is still in its windows, if sessions work again', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 3.7 * HOUR,
      processes: [one],
      second: (now) => {
        burn(one, now, 60, now < end ? 10 : 0);
      },
      missed: (now) => now === 1.5 * HOUR,
      firing: [fast],
    });
  });

  it('fires half an hour later, if fewer sessions continue to fall', async () => {
    const one = new SimulatedProcess();
    await run({
      interval,
      of,
      lasts: 3 * HOUR,
      processes: [one],
      second: (now) => {
        burn(one, now, 60, now < end ? 10 : 4);
      },
      firing: [fast, { alert: 'BudgetBurnSlow', after: end + 1800, by: end + 2400 }],
    });
  });
});

it.concurrent('shares have no value, and not NaN, without sessions, and are never above 1', async () => {
  const idle = new SimulatedProcess({ agent: 'idle' });
  const late = new SimulatedProcess({ agent: 'late' });
  const again = new SimulatedProcess({ agent: 'again' });
  const shares = ['5m', '30m', '1h', '6h'].map((window) => `job_agent:breakerbox_budget_burn:ratio${window}`);
  await run({
    interval: 60,
    of: ['BudgetBurnFast', 'BudgetBurnSlow'],
    lasts: 3 * HOUR,
    processes: [idle, late, again],
    second: (now) => {
      if (now > HOUR && now < 1.5 * HOUR) burn(late, now - HOUR, 60, 2);
      // One session that falls, recovers its full budget, and falls again.
      if (now === 0) again.begin();
      if (now > HOUR && now % 1800 === 0) again.fallLow();
    },
    // Only NaN differs from itself.
    never: shares.flatMap((name) => [`${name} != ${name}`, `${name} > 1`, `${name}{gen_ai_agent_name="idle"}`]),
  });
});

it.concurrent('BreakerboxBudgetBurnFast and …Slow say the share', async () => {
  const [fast, slow] = ['fast', 'slow'].map((agent) => new SimulatedProcess({ agent }));
  if (fast === undefined || slow === undefined) return;
  const link = '/d/breakerbox-failure-budget?var-job=fleet&var-agent=';
  const runbook = 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks';
  await run({
    interval: 60,
    of: ['BudgetBurnFast', 'BudgetBurnSlow'],
    lasts: 3 * HOUR,
    processes: [fast, slow],
    second: (now) => {
      burn(fast, now, 60, 10);
      burn(slow, now, 20, 3);
    },
    firing: [
      { alert: 'BudgetBurnFast', after: 0, by: 660 },
      { alert: 'BudgetBurnSlow', after: 0, by: 2 * HOUR },
    ],
    exactly: [
      {
        at: 3 * HOUR,
        alert: 'BudgetBurnFast',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'fast', severity: 'critical' },
            exp_annotations: {
              summary: 'Sessions of agent fast use up their failure budgets',
              description:
                '98% of the sessions that agent fast (job fleet) had in the last hour fell to at most one failure left in their budget. At the pace of the last 5 minutes, the share is more than 50 %. The next failure pauses such a session.',
              runbook_url: `${runbook}/BreakerboxBudgetBurnFast.md`,
              dashboard_url: `${link}fast`,
            },
          },
        ],
      },
      {
        at: 3 * HOUR,
        alert: 'BudgetBurnSlow',
        alerts: [
          {
            exp_labels: { job: 'fleet', gen_ai_agent_name: 'slow', severity: 'warning' },
            exp_annotations: {
              summary: 'Sessions of agent slow have been short of failure budget for hours',
              description:
                '30% of the sessions that agent slow (job fleet) had in the last 6 hours fell to at most one failure left in their budget. At the pace of the last 30 minutes, the share is more than 25 %. The next failure pauses such a session.',
              runbook_url: `${runbook}/BreakerboxBudgetBurnSlow.md`,
              dashboard_url: `${link}slow`,
            },
          },
        ],
      },
    ],
  });
});

it.concurrent('BreakerboxBudgetBurnSlow is silent when most sessions are older than the window, and few of them fall', async () => {
  const one = new SimulatedProcess();
  await run({
    interval: 60,
    of: ['BudgetBurnFast', 'BudgetBurnSlow'],
    lasts: 6 * HOUR,
    processes: [one],
    second: (now) => {
      if (now === 0) one.begin(100);
      if (now % 900 === 450) one.begin();
      if (now % 1800 === 30) one.fallLow();
    },
  });
});
